import adapter from '@sveltejs/adapter-node';
import { sveltekit } from '@sveltejs/kit/vite';
import tailwindcss from '@tailwindcss/vite';
import { defineConfig } from 'vite';

export default defineConfig({
  // A font or picture written into the style sheet as data: would need a hole in the policy below.
  build: { assetsInlineLimit: 0 },
  plugins: [
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
