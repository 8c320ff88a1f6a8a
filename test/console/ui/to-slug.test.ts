import assert from 'node:assert/strict';
import { toSlug } from '../../../console/ui/fields/read-text.ts';

describe('the slug that a name suggests', () => {
  const cases: [name: string, slug: string][] = [
    ['Sales', 'sales'],
    ['  Größe & Preis! ', 'grosse-preis'],
    ['Café №1', 'cafe-no1'],
    ['a--b__c', 'a-b-c'],
    ['流程', ''],
    ['<script>alert(1)</script>', 'script-alert-1-script'],
    [`${'ab-'.repeat(21)}a-bc`, `${'ab-'.repeat(21)}a`],
  ];
  for (const [name, slug] of cases)
    it(`of ${JSON.stringify(name)} is ${JSON.stringify(slug)}`, () => assert.equal(toSlug(name), slug));
});
