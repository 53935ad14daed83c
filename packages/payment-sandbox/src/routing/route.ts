import type { Provider } from '../provider/provider.ts';
import type { Rule, Rules } from './parameters.ts';

/** One request to the API, with its parameters checked. */
export interface Call<P> {
  provider: Provider;
  /** The ids in the path, in order. */
  id: string;
  otherId: string;
  params: P;
  path: string;
}

export interface Route {
  method: 'GET' | 'POST' | 'DELETE';
  /** The path, with `:id` in place of an id. */
  path: string;
  rules: Record<string, Rule>;
  required: readonly string[];
  answer(call: Call<never>): object;
  /** Whether the answer includes the secret of the endpoint. Only its creation does. */
  showsSecret?: boolean;
}

/** Declares a route. Its rules must cover every parameter of the SDK's type `P`, or it does not compile. */
export function route<P>(
  method: Route['method'],
  path: string,
  rules: Rules<P>,
  answer: (call: Call<P>) => object,
  required: readonly Exclude<keyof P, symbol | number>[] = [],
): Route {
  return { method, path, rules, required, answer: answer as Route['answer'] };
}
