import type { Config } from '../../config.ts';
import { baseUrl } from '../../links.ts';

type Metadata = Record<string, string> | null | undefined;

/**
 * The metadata that this deployment gives to each object that it makes at the provider. Several
 * deployments may share an account, and none may change the objects of another.
 *
 * @throws AppError INTERNAL without a canonical base URL.
 */
export function deploymentMark(config: Config) {
  return { purpose: 'gatehouse', deployment: baseUrl(config) };
}

/** The base URL of the deployment that made an object at the provider; null for objects made before the mark existed. */
export function deploymentOf(metadata: Metadata): string | null {
  return metadata?.deployment ?? null;
}

/**
 * Whether this deployment made the object.
 *
 * @throws AppError INTERNAL without a canonical base URL.
 */
export function isOurs(config: Config, metadata: Metadata): boolean {
  return deploymentOf(metadata) === baseUrl(config);
}
