import type { Provider } from '../provider/provider.ts';
import { ApiError } from '../routing/api-error.ts';

/** Returns a copy of an object in which every `livemode` is the mode of the provider. */
export function inMode<T extends object>({ livemode }: Provider, object: T): T {
  return JSON.parse(JSON.stringify(object, (name, value) => (name === 'livemode' ? livemode : value)));
}

/** Adds the real provider's hint to a resource_missing error, if the other mode of the account has the object. */
export function withHint(provider: Provider, error: ApiError): ApiError {
  const id = error.code === 'resource_missing' ? /^No such .*: '(.+)'$/.exec(error.message)?.[1] : undefined;
  const others = [...provider.providersByKey.values()].filter((each) => isOtherMode(provider, each));
  const other = others.find((each) => holds(each, id));
  if (!other) return error;

  const [there, here] = other.livemode ? ['live', 'test'] : ['test', 'live'];
  const hint = `; a similar object exists in ${there} mode, but a ${here} mode key was used to make this request.`;
  return new ApiError(error.status, `${error.message}${hint}`, error);
}

function isOtherMode(one: Provider, other: Provider): boolean {
  return one.account === other.account && one.livemode !== other.livemode;
}

function holds({ state }: Provider, id: string | undefined): boolean {
  const collections = Object.values(state).filter((value) => typeof value === 'object' && value !== null);
  return id !== undefined && collections.some((records) => Object.hasOwn(records, id));
}
