import { trpcEndpoint } from '#lib/server/http/trpc-endpoint.ts';

export const GET = trpcEndpoint;
export const HEAD = trpcEndpoint;
export const POST = trpcEndpoint;
