import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { RoundfoldError } from '../conversation/errors.ts';
import { configJsonSchema, configSchema, describeConfig, loadConfig } from './config.ts';

const load = (flags: object, environment: Record<string, string> = {}, text?: string) =>
  loadConfig({
    flags: { ...flags },
    environment,
    file: text === undefined ? undefined : { name: 'proxy.json', text },
  });

function refusalOf(run: () => unknown): RoundfoldError {
  try {
    run();
  } catch (error) {
    if (RoundfoldError.is(error)) return error;
  }
  throw new Error('it was not refused');
}

describe('settings', () => {
  it('come from flags before variables, variables before the file, and the file before defaults', () => {
    const file = '{ "port": 1, "mode": "observe", "maxStreams": 5, "trigger": 0.5 }';
    const { config, sources } = load({ port: 3 }, { ROUNDFOLD_PORT: '2', ROUNDFOLD_MODE: 'fold' }, file);
    expect(config).toMatchObject({ port: 3, mode: 'fold', maxStreams: 5, trigger: 0.5, host: '127.0.0.1' });
    expect(sources).toMatchObject({
      port: 'flag',
      mode: 'environment',
      maxStreams: 'file',
      trigger: 'file',
      host: 'default',
    });
  });

  it('may have comments and commas behind last values in a file, and texts that look like them', () => {
    const text = `{
      "$schema": "./proxy-config.schema.json",
      // a comment with "quotes" and a , }
      "upstreams": [{ "url": "http://127.0.0.1:1/a//b", /* why */ "model": "x,]*/" }, ],
      "tenantHeader": "x-team // no comment",
    }`;
    const { config } = load({}, {}, text);
    expect(config.upstreams).toEqual([{ url: 'http://127.0.0.1:1/a//b', model: 'x,]*/' }]);
    expect(config.tenantHeader).toBe('x-team // no comment');
  });

  it('can all be given as variables', () => {
    const { config } = load(
      {},
      {
        ROUNDFOLD_UPSTREAMS: 'https://a.example, https://b.example',
        ROUNDFOLD_HOSTS: 'one,two',
        ROUNDFOLD_WINDOWS: '{"small-*":8000}',
        ROUNDFOLD_ALLOW_REMOTE: 'true',
        ROUNDFOLD_TOKEN: '1234567890123456',
        ROUNDFOLD_DRAIN_SECONDS: '2.5',
      },
    );
    expect(config.upstreams).toEqual([{ url: 'https://a.example' }, { url: 'https://b.example' }]);
    expect(config).toMatchObject({
      hosts: ['one', 'two'],
      windows: { 'small-*': 8000 },
      allowRemote: true,
      token: '1234567890123456',
      drainSeconds: 2.5,
    });
  });

  it.each([
    ['an unknown name', {}, {}, '{ "prot": 1 }', /^unknown setting prot; did you mean port\?$/],
    [
      'the single of a name',
      {},
      {},
      '{ "upstream": [] }',
      /^unknown setting upstream; did you mean upstreams\?$/,
    ],
    [
      'a variable that does not exist',
      {},
      { ROUNDFOLD_MAX_STREAM: '5' },
      undefined,
      /^unknown setting ROUNDFOLD_MAX_STREAM; did you mean ROUNDFOLD_MAX_STREAMS\?$/,
    ],
    ['a number as a text', {}, {}, '{ "maxStreams": "500" }', /^maxStreams has to be a number, not a text$/],
    ['a fraction of a stream', {}, {}, '{ "maxStreams": 1.5 }', /^maxStreams has to be a whole number/],
    ['a word that is none of its own', {}, {}, '{ "mode": "of" }', /^mode has to be one of: fold, observe$/],
    [
      'a short token',
      {},
      { ROUNDFOLD_TOKEN: 'abcdefgh' },
      undefined,
      /^token has to have at least 16 characters$/,
    ],
    ['an upstream without an address', {}, {}, '{ "upstreams": [{}] }', /^upstreams\.0\.url is missing$/],
    [
      'an unknown name inside',
      {},
      {},
      '{ "upstreams": [{ "ulr": "http://a" }] }',
      /^unknown setting upstreams\.0\.ulr; did you mean url\?$/,
    ],
    ['a wrong type', {}, { ROUNDFOLD_PORT: 'many' }, undefined, /port/],
    ['a number out of bounds', { port: 70_000 }, {}, undefined, /port/],
    [
      'an address that is none',
      {},
      {},
      '{ "upstreams": [{ "url": "ftp://a" }] }',
      /^upstreams\.0\.url has to be an address that begins with http/,
    ],
    [
      'a target above the trigger',
      {},
      {},
      '{ "trigger": 0.5, "target": 0.6 }',
      /^target has to be below the trigger/,
    ],
    ['a share above 1', {}, {}, '{ "trigger": 75 }', /^trigger has to be at most 1$/],
    ['text that is no JSON', {}, {}, '{ "token": "abcdefgh" oops }', /no JSON/],
    ['a list', {}, {}, '[]', /no JSON object/],
  ] as const)('are refused with their place: %s', (...[, flags, environment, text, message]) => {
    const error = refusalOf(() => load(flags, { ...environment }, text));
    expect(error.code).toBe('usage');
    expect(error.message).toMatch(message);
    expect(error.place?.source).toBeDefined();
    expect(`${error.message} ${error.remedy}`).not.toContain('abcdefgh');
  });

  it('leave variables alone that other commands and tests read', () => {
    const others = { ROUNDFOLD_CONFIG: 'a', ROUNDFOLD_STORE_SECRET: 'b', ROUNDFOLD_CORPUS: 'c', HOME: '/' };
    expect(load({}, others).sources.store).toBe('default');
  });

  it('are shown without secrets', () => {
    const rows = describeConfig(
      load({ store: 'postgres://me:password@host/db' }, { ROUNDFOLD_TOKEN: 'a-secret-token-of-mine' }),
    );
    expect(JSON.stringify(rows)).not.toMatch(/password|a-secret-token/);
    expect(rows.map(({ key }) => key)).toEqual(Object.keys(configSchema.shape));
  });

  it('have a schema that is published as the code has it', () => {
    const published: unknown = JSON.parse(readFileSync('docs/proxy-config.schema.json', 'utf8'));
    expect(published, 'run `npm run docs`').toEqual(configJsonSchema());
  });
});
