import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { parse } from 'yaml';

type Service = { environment?: object; depends_on?: object };

describe('docker-compose.yml', () => {
  const text = readFileSync(path.join(import.meta.dirname, '../docker-compose.yml'), 'utf8');
  const services: { [name: string]: Service } = parse(text, { merge: true }).services;

  it('is YAML in which every service is there that another waits for', () => {
    for (const [name, { depends_on = {} }] of Object.entries(services))
      for (const other of Object.keys(depends_on)) assert.ok(other in services, `${name} waits for ${other}`);
  });

  it('asks for the secrets that API and worker need', () => {
    for (const name of ['api', 'worker'])
      for (const variable of ['DATABASE_URL', 'WEIR_API_KEY_PEPPER', 'WEIR_SECRETS_KEYS'])
        assert.ok(variable in (services[name]?.environment ?? {}), `${name}: ${variable}`);
  });
});
