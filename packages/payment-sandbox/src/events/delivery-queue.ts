import type { Delivery } from '../provider/bookkeeping.ts';
import { newId } from '../provider/id.ts';
import type { DeliveryQueue, Provider } from '../provider/provider.ts';
import type { ProviderEvent, WebhookEndpoint } from '../provider/records.ts';
import { sendEvent } from './send-event.ts';

const keptDeliveries = 4000;
/** With `reorder_deliveries`, each delivery waits a random time up to this. */
const reorderWindowMs = 300;

/**
 * Sends events to the endpoints, one at a time, in the order in which they are due. A failed
 * delivery (any answer but 2xx, redirects included) is retried with growing pauses and does not
 * delay the others. Waiting deliveries survive a restart.
 */
export function createDeliveryQueue(provider: () => Provider): DeliveryQueue {
  let timer: NodeJS.Timeout | undefined;
  let sending = false;
  let stopped = false;
  const stopping = new AbortController();
  // Once the start has finished, deliveries that an earlier process left waiting continue.
  const started = setImmediate(() => pump());
  return { enqueue, resend, resendEvent, sendDropped, settled, retryNow, stop };

  function enqueue(event: ProviderEvent): void {
    const { state } = provider();
    const { duplicate_deliveries: twice, drop_deliveries: dropped } = state.switches;
    for (const endpoint of Object.values(state.webhook_endpoints)) {
      if (!wants(endpoint, event.type)) continue;
      event.pending_webhooks += 1;
      for (let copy = 0; copy < (twice ? 2 : 1); copy += 1) {
        state.deliveries.push({
          id: newId('dlv'),
          event: event.id,
          type: event.type,
          endpoint: endpoint.id,
          state: dropped ? 'dropped' : 'waiting',
          attempts: [],
          next_attempt_at: dropped ? null : Date.now() + firstPause(),
        });
      }
    }
    state.deliveries.splice(0, Math.max(0, state.deliveries.length - keptDeliveries));
    // Deferred, so that the change that caused the event is complete before its delivery.
    setImmediate(pump);
  }

  function firstPause(): number {
    const { delivery_delay_ms, reorder_deliveries } = provider().state.switches;
    return delivery_delay_ms + (reorder_deliveries ? Math.random() * reorderWindowMs : 0);
  }

  function resend(id: string): Delivery {
    const delivery = provider().state.deliveries.find((candidate) => candidate.id === id);
    if (!delivery) throw new Error(`There is no delivery ${id}.`);
    sendAgain(delivery);
    return delivery;
  }

  function resendEvent(eventId: string): void {
    const deliveries = provider().state.deliveries.filter(({ event }) => event === eventId);
    if (deliveries.length === 0) throw new Error(`There is no delivery of the event ${eventId}.`);
    for (const delivery of deliveries) sendAgain(delivery);
  }

  function sendDropped(): number {
    const dropped = provider().state.deliveries.filter(({ state }) => state === 'dropped');
    for (const delivery of dropped) sendAgain(delivery);
    return dropped.length;
  }

  function retryNow(): void {
    for (const delivery of provider().state.deliveries) if (delivery.state === 'waiting') sendAgain(delivery);
  }

  function sendAgain(delivery: Delivery): void {
    delivery.state = 'waiting';
    delivery.next_attempt_at = 0;
    delivery.asked = true;
    setImmediate(pump);
  }

  async function settled({ retries = false, timeoutMs = 30_000 } = {}): Promise<void> {
    const deadline = Date.now() + timeoutMs;
    for (;;) {
      const open = provider().state.deliveries.filter(
        ({ state, attempts, asked }) => state === 'waiting' && (retries || asked || attempts.length === 0),
      );
      if (open.length === 0 && !sending) return;
      if (Date.now() > deadline) throw new Error(`${open.length} deliveries are still open after ${timeoutMs} ms.`);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  }

  function stop(): void {
    stopped = true;
    stopping.abort(new Error('The sandbox stops.'));
    clearImmediate(started);
    clearTimeout(timer);
  }

  async function pump(): Promise<void> {
    clearTimeout(timer);
    if (sending || stopped) return;
    const waiting = provider().state.deliveries.filter(({ state }) => state === 'waiting');
    const next = waiting.reduce<Delivery | null>((first, one) => (first && due(first) <= due(one) ? first : one), null);
    if (!next) return;
    const pause = due(next) - Date.now();
    if (pause > 0) {
      timer = setTimeout(pump, pause);
      timer.unref();
      return;
    }
    sending = true;
    try {
      await attempt(next);
    } finally {
      sending = false;
      if (!stopped) setImmediate(pump);
    }
  }

  async function attempt(delivery: Delivery): Promise<void> {
    const { state, file, serviceTime } = provider();
    const event = state.events[delivery.event];
    const endpoint = state.webhook_endpoints[delivery.endpoint];
    if (!event || !endpoint || endpoint.status !== 'enabled') {
      delivery.state = 'failed';
      delivery.next_attempt_at = null;
      return;
    }
    const signing = { signedAt: serviceTime(), wrongSignature: state.switches.wrong_signature };
    const outcome = await sendEvent(event, endpoint, signing, stopping.signal);
    // An attempt that the end of the process interrupted is repeated at the next start.
    if (stopped) return;
    delivery.attempts.push(outcome);
    delete delivery.asked;
    if (outcome.status !== null && outcome.status >= 200 && outcome.status < 300) {
      delivery.state = 'delivered';
      delivery.next_attempt_at = null;
      countPending(state.deliveries, event);
    } else if (delivery.attempts.length >= state.switches.delivery_attempts) {
      delivery.state = 'failed';
      delivery.next_attempt_at = null;
    } else {
      const { retry_first_ms, retry_longest_ms } = state.switches;
      const pause = Math.min(retry_longest_ms, retry_first_ms * 2 ** (delivery.attempts.length - 1));
      delivery.next_attempt_at = Date.now() + pause;
    }
    file.saveSoon();
  }
}

function due(delivery: Delivery): number {
  return delivery.next_attempt_at ?? 0;
}

function wants(endpoint: WebhookEndpoint, type: string): boolean {
  const types = endpoint.enabled_events;
  return endpoint.status === 'enabled' && (types.includes('*') || types.includes(type));
}

/** Returns the number of endpoints that have not received the event. */
function countPending(deliveries: Delivery[], event: ProviderEvent): void {
  const own = deliveries.filter((delivery) => delivery.event === event.id);
  const reached = new Set(own.filter(({ state }) => state === 'delivered').map(({ endpoint }) => endpoint));
  event.pending_webhooks = new Set(own.map(({ endpoint }) => endpoint).filter((id) => !reached.has(id))).size;
}
