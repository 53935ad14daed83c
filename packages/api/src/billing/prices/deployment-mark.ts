import type { Config } from '../../platform/config.ts';
import { baseUrl } from '../../platform/links.ts';

type Metadata = Record<string, string> | null | undefined;

/**
 * The metadata that this deployment gives to each object that it creates at the provider. Several
 * deployments may share an account, and none may change the objects of another.
 *
 * @throws AppError INTERNAL without a canonical base URL.
 */
export function deploymentMark(config: Config) {
  return { purpose: 'gatehouse', deployment: baseUrl(config) };
}

/** Returns the base URL of the deployment that created an object at the provider; null for an object without the mark. */
export function deploymentOf(metadata: Metadata): string | null {
  return metadata?.deployment ?? null;
}

/**
 * Whether this deployment created the object.
 *
 * @throws AppError INTERNAL without a canonical base URL.
 */
export function isOurs(config: Config, metadata: Metadata): boolean {
  return deploymentOf(metadata) === baseUrl(config);
}
