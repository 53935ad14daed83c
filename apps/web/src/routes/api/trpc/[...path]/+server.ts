import { trpcDoor } from '#lib/server/trpc-door.ts';

export const GET = trpcDoor;
export const HEAD = trpcDoor;
export const POST = trpcDoor;
