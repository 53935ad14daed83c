import type { Provider } from '../provider/provider.ts';
import type { Rule, Rules } from './parameters.ts';

/** One request to the API with its parameters read. */
export interface Call<P> {
  provider: Provider;
  /** The ids in the address, in order. */
  id: string;
  otherId: string;
  params: P;
  path: string;
}

export interface Route {
  method: 'GET' | 'POST' | 'DELETE';
  /** The address with `:id` where an id stands. */
  path: string;
  rules: Record<string, Rule>;
  required: readonly string[];
  answer(call: Call<never>): object;
  /** The answer shows the endpoint's secret, which it does only at its making. */
  showsSecret?: boolean;
}

/** Declares a route whose rules must cover every parameter of the SDK's type `P`. */
export function route<P>(
  method: Route['method'],
  path: string,
  rules: Rules<P>,
  answer: (call: Call<P>) => object,
  required: readonly Exclude<keyof P, symbol | number>[] = [],
): Route {
  return { method, path, rules, required, answer: answer as Route['answer'] };
}
