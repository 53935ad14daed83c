import { fileURLToPath } from 'node:url';
import adapter from '@sveltejs/adapter-node';
import { sveltekit } from '@sveltejs/kit/vite';
import tailwindcss from '@tailwindcss/vite';
import { defineConfig, isRunnableDevEnvironment, type Plugin } from 'vite';
import { externalBundle } from '../../packages/api/external-bundle.ts';
import { clientChunk, errorPagesInBase } from './client-chunks.ts';
import { parsedTexts } from './parsed-texts.ts';
import { staticIcons } from './static-icons.ts';

export default defineConfig({
  // The policy below permits no data: URLs, so no font or picture is inlined into the style sheet.
  build: { assetsInlineLimit: 0 },
  // The page script is bundled as a worker is: the import of its URL gives it a file of its own.
  worker: { format: 'es' },
  environments: {
    // Comments are most of some libraries. Node would read them at each start, and keep them in memory.
    ssr: {
      build: {
        rolldownOptions: {
          output: { comments: false },
        },
      },
    },
    client: {
      build: {
        rolldownOptions: {
          // Kit reads its entries' exports by name, so they may export more.
          preserveEntrySignatures: 'allow-extension',
          output: { codeSplitting: { includeDependenciesRecursively: false, groups: [{ name: clientChunk }] } },
        },
      },
    },
  },
  plugins: [
    api(),
    answersAlone(),
    staticIcons(),
    parsedTexts(),
    externalBundle(),
    errorPagesInBase(),
    tailwindcss(),
    sveltekit({
      adapter: adapter(),
      // Kit's own is the time of the build: two builds of one commit would differ.
      ...(/^[^.]+\.[^.]+\.[^.]+(\.[0-9a-f]{12})?$/.test(process.env.GATEHOUSE_VERSION ?? '') && {
        version: { name: process.env.GATEHOUSE_VERSION },
      }),
      // Pages are served with a trailing slash too, where relative URLs would be wrong.
      paths: { relative: false },
      csp: {
        mode: 'nonce',
        // The hook appends form-action, because it lists origins of the configuration.
        directives: {
          'default-src': ['none'],
          'script-src': ['self'],
          'style-src': ['self'],
          // Kit's announcer has a style attribute.
          'style-src-attr': ['unsafe-inline'],
          'img-src': ['self'],
          'font-src': ['self'],
          'connect-src': ['self'],
          'base-uri': ['none'],
          'frame-ancestors': ['none'],
        },
      },
      // The same-origin check in the hook is stricter, and covers requests without a body.
      csrf: { trustedOrigins: ['*'] },
    }),
  ],
});

/** With `--mode test` the packages of the pages' scripts are not bundled: that takes half of a cold start. */
function answersAlone(): Plugin {
  return {
    name: 'answers-alone',
    config: (_config, { mode }) => (mode === 'test' ? { optimizeDeps: { noDiscovery: true } } : undefined),
  };
}

const server = (file: string) => fileURLToPath(new URL(`../server/src/${file}`, import.meta.url));

/** The API and the probes under `npm run dev`, from their sources: in the built service apps/server answers them before Kit. */
function api(): Plugin {
  return {
    name: 'api',
    configureServer({ middlewares, environments: { ssr } }) {
      if (!isRunnableDevEnvironment(ssr)) return;
      middlewares.use(async (request, response, next) => {
        try {
          const probes: typeof import('../server/src/json-answers.ts') = await ssr.runner.import(
            server('json-answers.ts'),
          );
          if (request.url === '/healthz') return probes.answerHealth(request, response);

          const { openApi }: typeof import('../server/src/application.ts') = await ssr.runner.import(
            server('application.ts'),
          );
          const { readiness, api } = await openApi();
          if (request.url === '/readyz') return await probes.answerReadiness(request, response, readiness);
          const client = { address: request.socket.remoteAddress ?? '' };
          if (!api(request, response, { target: request.url ?? '/', client })) next();
        } catch (error) {
          next(error);
        }
      });
    },
  };
}
