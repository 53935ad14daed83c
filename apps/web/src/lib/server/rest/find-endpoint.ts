import type { Endpoint, Method, Params } from './endpoints.ts';
import { endpoints } from './endpoints.ts';

export type Found = {
  /** The pattern of the path, for metrics and the log: it contains no id. */
  route: string;
  /** Null if the path has no endpoint. */
  methods: string[] | null;
  byMethod: Partial<Record<string, Endpoint>>;
  params: Params;
};

const nowhere: Found = { route: '/api/[...rest]', methods: null, byMethod: {}, params: {} };

const all = Object.entries(endpoints).map(([route, given]) => {
  const byMethod: Partial<Record<string, Endpoint>> = given.GET === undefined ? given : { ...given, HEAD: given.GET };
  return { route, methods: methodsOf(given), byMethod };
});
const withoutParams = new Map(all.map((each) => [each.route, { ...each, params: {} }]));
const withParams = all
  .filter(({ route }) => route.includes('['))
  .map((each) => ({ ...each, pattern: new RegExp(`^${each.route.replace(/\[(\w+)\]/g, '(?<$1>[^/]+)')}$`) }));

/** Returns the endpoints of a path. A path without a parameter comes before one with a parameter. */
export function findEndpoint(pathname: string): Found {
  const found = withoutParams.get(pathname);
  if (found !== undefined) return found;

  for (const { pattern, ...each } of withParams) {
    const params = pattern.exec(pathname)?.groups;
    if (params !== undefined) return decoded(each, params);
  }
  return nowhere;
}

function methodsOf(given: Partial<Record<Method, Endpoint>>): string[] {
  return (Object.keys(given) as Method[]).flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method]));
}

/** A parameter that is not valid UTF-8 names nothing. */
function decoded(each: Omit<Found, 'params'>, params: Params): Found {
  try {
    const values = Object.entries(params).map(([name, value]) => [name, decodeURIComponent(value)]);
    return { ...each, params: Object.fromEntries(values) };
  } catch {
    return nowhere;
  }
}
