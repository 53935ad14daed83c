import { Refusal } from '@gatehouse/api/errors';
import { refusalResponse } from '#lib/server/refusal.ts';

export const fallback = () => refusalResponse(new Refusal('NOT_FOUND', 'There is nothing here.'));
