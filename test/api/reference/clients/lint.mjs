// Prints the errors that Redocly and Spectral find in openapi.json, as JSON.
import { readFile } from 'node:fs/promises';
import redocly from '@redocly/openapi-core';
import core from '@stoplight/spectral-core';
import rulesets from '@stoplight/spectral-rulesets';

const source = await readFile('openapi.json', 'utf8');
const config = await redocly.createConfig({ extends: ['recommended'] });
const ofRedocly = await redocly.lintFromString({ source, config });
const spectral = new core.Spectral();
spectral.setRuleset({ extends: [rulesets.oas] });
const ofSpectral = await spectral.run(source);
const errors = {
  redocly: ofRedocly.filter(({ severity }) => severity === 'error').map(({ message }) => message),
  spectral: ofSpectral.filter(({ severity }) => severity === 0).map(({ message }) => message),
};
console.log(JSON.stringify(errors));
