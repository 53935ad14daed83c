import type { Config } from '../../config.ts';
import { baseUrl } from '../../links.ts';

type Metadata = Record<string, string> | null | undefined;

/**
 * Marks at the provider what this deployment made there. Several deployments may share an
 * account, and none may change what is another's.
 */
export function deploymentMark(config: Config) {
  return { purpose: 'gatehouse', deployment: baseUrl(config) };
}

/** Whose a thing at the provider is: its deployment's address; null where it says none, as those made before do. */
export function deploymentOf(metadata: Metadata): string | null {
  return metadata?.deployment ?? null;
}

export function isOurs(config: Config, metadata: Metadata): boolean {
  return deploymentOf(metadata) === baseUrl(config);
}
