import type { Reroute } from '@sveltejs/kit/hooks';

/** The pages that run the page script in place of Kit (docs/decisions/037-sign-in-without-kit.md). */
const hasPageScript = /^\/(login|login\/second-step|signup)\/?$/;

/**
 * Hides the pages with a script of their own from Kit's router in the browser, so that links and
 * redirects to them load a document. There is no route at the path that is returned. The server has no such hook.
 */
export const reroute: Reroute | undefined = import.meta.env.SSR
  ? undefined
  : ({ url }) => (hasPageScript.test(url.pathname) ? '/-' : undefined);
