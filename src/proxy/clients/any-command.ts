import { asLines, type Client, type Maker, upstreamsOf, urlVariables } from './client.ts';

const makers: readonly Maker[] = ['anthropic', 'openai', 'google'];

/** Whatever is not in the table: the variables that the makers' own libraries read. */
export const anyCommand: Client = {
  name: 'any',
  commands: [],
  plan({ args, env }) {
    const upstreams = upstreamsOf(env);
    return {
      upstreams,
      launch(proxied) {
        const set = Object.fromEntries(makers.map((maker) => [urlVariables[maker], proxied(maker)]));
        return { args, env: set, told: asLines(set) };
      },
    };
  },
};
