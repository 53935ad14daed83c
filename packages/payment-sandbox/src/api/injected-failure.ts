import type { Provider } from '../provider/provider.ts';
import type { Switches } from '../provider/switches.ts';

/** Returns the failure that the switches inject into a request, or null. Each one decrements `api_failure_count`. */
export function takeFailure(provider: Provider, request: string): Switches['api_failure'] {
  const { switches } = provider.state;
  if (switches.api_failure === null || !request.startsWith(switches.api_failure_only)) return null;
  const { api_failure: failure, api_failure_count: count } = switches;
  if (count !== null) {
    if (count <= 0) return null;
    switches.api_failure_count = count - 1;
  }
  return failure;
}
