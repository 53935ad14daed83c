import adapter from '@sveltejs/adapter-node';
import { sveltekit } from '@sveltejs/kit/vite';
import tailwindcss from '@tailwindcss/vite';
import { defineConfig, type Plugin } from 'vite';

export default defineConfig({
  // A font or picture written into the style sheet as data: would need a hole in the policy below.
  build: { assetsInlineLimit: 0 },
  plugins: [
    health(),
    tailwindcss(),
    sveltekit({
      adapter: adapter(),
      // Pages are served with a slash behind them too, where relative addresses would lead astray.
      paths: { relative: false },
      csp: {
        mode: 'nonce',
        // form-action is not here: the hook appends it, because it names origins of the configuration.
        directives: {
          'default-src': ['none'],
          'script-src': ['self'],
          'style-src': ['self'],
          // Kit's announcer carries a style attribute.
          'style-src-attr': ['unsafe-inline'],
          'img-src': ['self'],
          'font-src': ['self'],
          'connect-src': ['self'],
          'base-uri': ['none'],
          'frame-ancestors': ['none'],
        },
      },
      // The same-origin rule in the hook is stricter, and knows requests without a body.
      csrf: { trustedOrigins: ['*'] },
    }),
  ],
});

/** GET /healthz under `npm run dev`: of the built service the process around it answers this. */
function health(): Plugin {
  return {
    name: 'health',
    configureServer({ middlewares }) {
      middlewares.use('/healthz', ({ method }, response) => {
        const there = method === 'GET' || method === 'HEAD';
        response.setHeader('Content-Type', 'application/json');
        response.setHeader('Cache-Control', 'no-store');
        if (!there) response.setHeader('Allow', 'GET, HEAD');
        response.statusCode = there ? 200 : 405;
        response.end(
          JSON.stringify(there ? { ok: true } : { error: 'This method is not there.', code: 'METHOD_NOT_ALLOWED' }),
        );
      });
    },
  };
}
