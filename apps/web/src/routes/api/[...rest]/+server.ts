import { AppError } from '@gatehouse/api/errors';
import { errorResponse } from '#lib/server/http/error-response.ts';

export const fallback = () => errorResponse(new AppError('NOT_FOUND', 'There is no such path.'));
