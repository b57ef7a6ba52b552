/** A standard queue: at least once, in no order, hidden while received. What happens to single messages is chosen by the schedule. */
import type { Clockwork } from "./clockwork.ts";

export type QueueMessage = {
  readonly id: string;
  readonly body: string;
  visibleAtMs: number;
  receives: number;
  deleted: boolean;
};

export type QueueModel = {
  readonly messages: readonly QueueMessage[];
  /** Queues a message; it is received once it is visible. */
  put(body: string, delayMs: number): QueueMessage;
  /** Takes it away. A receipt of old works as well: the emulators and sometimes SQS let it. */
  remove(message: QueueMessage): void;
  hide(message: QueueMessage, forMs: number): void;
  purge(): void;
  living(): readonly QueueMessage[];
};

/** @param receive is called for each delivery; while the queue is off, nothing is received. */
export function queueModel(
  clockwork: Clockwork,
  name: string,
  visibilityMs: number,
  isOn: () => boolean,
  receive: (message: QueueMessage) => void,
): QueueModel {
  const messages: QueueMessage[] = [];
  const living = new Set<QueueMessage>();
  const offCheckMs = 5_000;

  const watch = (message: QueueMessage): void => {
    const atMs = message.visibleAtMs;
    clockwork.at(atMs, () => {
      if (message.deleted || message.visibleAtMs !== atMs) return;
      if (!isOn()) {
        message.visibleAtMs = clockwork.nowMs() + offCheckMs;
        watch(message);
        return;
      }
      message.receives += 1;
      message.visibleAtMs = clockwork.nowMs() + visibilityMs;
      watch(message);
      receive(message);
    });
  };

  return {
    messages,
    put: (body, delayMs) => {
      const message = {
        id: `${name}-${messages.length}`,
        body,
        visibleAtMs: clockwork.nowMs() + delayMs,
        receives: 0,
        deleted: false,
      };
      messages.push(message);
      living.add(message);
      watch(message);
      return message;
    },
    remove: (message) => {
      message.deleted = true;
      living.delete(message);
    },
    hide: (message, forMs) => {
      if (message.deleted) return;
      message.visibleAtMs = clockwork.nowMs() + forMs;
      watch(message);
    },
    purge: () => {
      for (const message of living) message.deleted = true;
      living.clear();
    },
    living: () => [...living],
  };
}
