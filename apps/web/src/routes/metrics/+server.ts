import { metricsDoor } from '#lib/server/metrics-door.ts';

export const GET = metricsDoor;
export const fallback = metricsDoor;
