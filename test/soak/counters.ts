/** What the functions have counted, from the metrics among what they printed. A killed process takes its last counts along. */
import { createReadStream } from "node:fs";
import { createInterface } from "node:readline";

export async function countersIn(log: string): Promise<Readonly<Record<string, number>>> {
  const sums: Record<string, number> = {};
  for await (const line of createInterface({ input: createReadStream(log) })) {
    if (!line.startsWith('{"_aws"')) continue;
    for (const [name, value] of Object.entries(parsed(line)))
      for (const one of [value].flat()) if (typeof one === "number") sums[name] = (sums[name] ?? 0) + one;
  }
  return sums;
}

function parsed(line: string): object {
  try {
    const { _aws, ...counted } = JSON.parse(line);
    return counted;
  } catch {
    return {};
  }
}
