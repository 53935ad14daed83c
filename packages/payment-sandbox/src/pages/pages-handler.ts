import { checkoutPage } from '../checkout/checkout-page.ts';
import { send } from '../http/answer.ts';
import { type Exchange, HttpError } from '../http/request.ts';
import { stylesheet } from '../http/stylesheet.ts';
import { invoicePage } from '../invoices/invoice-page.ts';
import { portalPage } from '../portal/portal-page.ts';
import type { Provider } from '../provider/provider.ts';

const pages = { checkout: checkoutPage, portal: portalPage, invoice: invoicePage };

/**
 * Answers requests for the hosted pages at /pay and for their stylesheet. The URL is the only
 * secret, as with the real provider.
 *
 * @throws HttpError 405 for a method other than GET, HEAD and POST, 404 for an unknown page.
 */
export async function handlePages(provider: Provider, exchange: Exchange): Promise<boolean> {
  if (exchange.path === '/sandbox.css') {
    send(exchange.res, 200, 'text/css; charset=utf-8', stylesheet);
    return true;
  }
  const [, first, kind, id] = exchange.path.split('/');
  if (first !== 'pay' || !kind || !id || !Object.hasOwn(pages, kind)) return false;
  if (!['GET', 'HEAD', 'POST'].includes(exchange.method))
    throw new HttpError(405, 'A page accepts GET, HEAD and POST.');
  await pages[kind as keyof typeof pages](provider, exchange, id);
  return true;
}
