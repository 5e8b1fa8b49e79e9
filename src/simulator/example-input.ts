import { asList, asString, isObject, type JsonObject } from '../conversation/json.ts';

const deepest = 4;

/** An input that fits a tool's JSON schema as far as its types and required properties go. */
export function exampleInput(schema: JsonObject): JsonObject {
  return exampleObject(schema, 0);
}

function exampleObject(schema: JsonObject, depth: number): JsonObject {
  const properties = isObject(schema['properties']) ? schema['properties'] : {};
  const names = asList(schema['required']).filter((name) => typeof name === 'string');
  return Object.fromEntries(
    names.map((name) => {
      const inner = Object.hasOwn(properties, name) ? properties[name] : undefined;
      return [name, exampleValue(name, isObject(inner) ? inner : {}, depth)];
    }),
  );
}

const byType = new Map<string, (schema: JsonObject, depth: number) => unknown>([
  ['number', (schema) => (typeof schema['minimum'] === 'number' ? schema['minimum'] : 1)],
  ['integer', (schema) => (typeof schema['minimum'] === 'number' ? schema['minimum'] : 1)],
  ['boolean', () => true],
  ['array', () => []],
  ['null', () => null],
  ['object', (schema, depth) => (depth < deepest ? exampleObject(schema, depth + 1) : {})],
]);

function exampleValue(name: string, schema: JsonObject, depth: number): unknown {
  const [first] = asList(schema['enum']);
  if (first !== undefined) return first;
  const type = asString(schema['type']) ?? asString(asList(schema['type'])[0]) ?? 'string';
  const make = byType.get(type);
  return make === undefined ? `example ${name}` : make(schema, depth);
}
