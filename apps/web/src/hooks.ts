import type { Reroute } from '@sveltejs/kit/hooks';
import { hasPageScript } from '#lib/page-script/paths.ts';

/**
 * Hides the pages with a script of their own from Kit's router in the browser, so that links and
 * redirects to them load a document. There is no route at the path that is returned. The server has no such hook.
 */
export const reroute: Reroute | undefined = import.meta.env.SSR
  ? undefined
  : ({ url }) => (hasPageScript(url.pathname) ? '/-' : undefined);
