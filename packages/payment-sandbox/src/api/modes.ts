import type { Provider } from '../provider/provider.ts';
import { ApiError } from '../routing/api-error.ts';

/** A copy of an object in which every `livemode` is the mode of the provider. */
export function inMode<T extends object>({ livemode }: Provider, object: T): T {
  return JSON.parse(JSON.stringify(object, (name, value) => (name === 'livemode' ? livemode : value)));
}

/** Adds the sentence of the real provider to a resource_missing error, if the other mode of the account has the object. */
export function withHint(provider: Provider, error: ApiError): ApiError {
  const id = error.code === 'resource_missing' ? /^No such .*: '(.+)'$/.exec(error.message)?.[1] : undefined;
  const [, other] = [...provider.worlds].find(([, world]) => isOtherMode(provider, world) && holds(world, id)) ?? [];
  if (!other) return error;

  const [there, here] = other.livemode ? ['live', 'test'] : ['test', 'live'];
  const hint = `; a similar object exists in ${there} mode, but a ${here} mode key was used to make this request.`;
  return new ApiError(error.status, `${error.message}${hint}`, error);
}

function isOtherMode(one: Provider, other: Provider): boolean {
  return one.account === other.account && one.livemode !== other.livemode;
}

function holds({ state }: Provider, id: string | undefined): boolean {
  const shelves = Object.values(state).filter((shelf) => typeof shelf === 'object' && shelf !== null);
  return id !== undefined && shelves.some((shelf) => Object.hasOwn(shelf, id));
}
