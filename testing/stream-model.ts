/** A table's stream: each record is handled until that has succeeded, in no order, and given up after ten tries. */
import type { Item } from "../shared/write.ts";
import type { Clockwork } from "./clockwork.ts";
import type { Weather } from "./weather.ts";

const retryMs = 1_000;
const offCheckMs = 5_000;
const tries = 10;

export type StreamModel = {
  /** @param image the item as the write has left it. */
  deliver(image: Item): void;
};

/** @param handle is called for each try, and calls `again` where it failed. */
export function streamModel(
  clockwork: Clockwork,
  { isOn, records }: Pick<Weather, "isOn" | "records">,
  handle: (image: Item, again: () => void) => void,
  onLost: () => void,
): StreamModel {
  const attempt = (image: Item, triesLeft: number): void => {
    if (!isOn("relay", clockwork.nowMs())) {
      clockwork.at(clockwork.nowMs() + offCheckMs, () => attempt(image, triesLeft));
      return;
    }
    if (triesLeft === 0) {
      onLost();
      return;
    }
    handle(image, () => clockwork.at(clockwork.nowMs() + retryMs, () => attempt(image, triesLeft - 1)));
  };
  return {
    deliver: (image) => {
      const fate = records(clockwork.nowMs());
      if (fate.length === 0) onLost();
      for (const lateMs of fate) clockwork.at(clockwork.nowMs() + lateMs, () => attempt(image, tries));
    },
  };
}
