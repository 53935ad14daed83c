import type { Provider } from '../provider/provider.ts';
import { ApiError } from '../routing/api-error.ts';

/** An object as this world sends it: each part says the world's mode. */
export function inMode<T extends object>({ livemode }: Provider, object: T): T {
  return JSON.parse(JSON.stringify(object, (name, value) => (name === 'livemode' ? livemode : value)));
}

/** The same refusal with the sentence that the real provider adds where the account's other mode has the object. */
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
