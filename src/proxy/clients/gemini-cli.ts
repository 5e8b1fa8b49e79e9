import { asLines, type Client, upstreamsOf, urlVariables } from './client.ts';

/** The address counts with a key. Who has logged in with an account talks to another service, in another format. */
export const geminiCli: Client = {
  name: 'gemini-cli',
  commands: ['gemini'],
  plan({ args, env }) {
    const { google } = upstreamsOf(env);
    return {
      upstreams: { google },
      launch(proxied) {
        const set = { [urlVariables.google]: proxied('google') };
        return { args, env: set, told: asLines(set) };
      },
    };
  },
};
