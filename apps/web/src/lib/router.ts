import type { AppRouter } from '@gatehouse/api/router/root';
import type { inferRouterInputs, inferRouterOutputs } from '@trpc/server';

/** What procedures take and return. Pages and components derive their types from these. */
export type RouterInputs = inferRouterInputs<AppRouter>;
export type RouterOutputs = inferRouterOutputs<AppRouter>;
