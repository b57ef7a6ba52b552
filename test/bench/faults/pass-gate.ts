/** Where a worker asks whether it may go on: at the gate it is killed, or let through at once. */
export async function passGate(point: "before" | "return", what: string): Promise<void> {
  const response = await fetch(`${process.env.GATE_URL}/${point}`, { method: "POST", body: what });
  await response.arrayBuffer();
}
