/** Finding, killing, freezing and waking the processes that tests aim at. */
import { execFile } from "node:child_process";
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import type { Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";

const run = promisify(execFile);
const onLinux = process.platform === "linux";
const pollEveryMs = 20;

/**
 * The process at the client's end of a loopback connection, by the client's local port. `serverPort` tells apart two
 * connections that share a local port, which Linux allows when they lead to different servers.
 */
export async function pidOfPeer(clientPort: number, serverPort?: number): Promise<number | undefined> {
  return onLinux ? linuxOwner(clientPort, serverPort) : lsofOwner(clientPort, serverPort);
}

const owners = new WeakMap<Socket, Promise<number | undefined>>();

/** As `pidOfPeer`, looked up once per accepted connection: call it early, since a dead process owns nothing any more. */
export function ownerOf(accepted: Socket): Promise<number | undefined> {
  const known = owners.get(accepted);
  if (known !== undefined) return known;
  const { remotePort, localPort } = accepted;
  const owner = remotePort === undefined ? Promise.resolve(undefined) : pidOfPeer(remotePort, localPort);
  owners.set(accepted, owner);
  return owner;
}

/** Processes found before, which are looked at first: reading what every process holds takes some 20 ms. */
const found = new Set<number>();

function linuxOwner(clientPort: number, serverPort: number | undefined): number | undefined {
  const inode = ["/proc/net/tcp", "/proc/net/tcp6"]
    .flatMap((file) => (readOrUndefined(() => readFileSync(file, "utf8")) ?? "").split("\n"))
    .filter((line) => line.includes(hexPort(clientPort)))
    .map((line) => line.trim().split(/\s+/))
    // Columns: sl local remote state … inode (proc_net_tcp.txt). Inode 0 belongs to a socket that no process holds.
    .find(([, local = "", remote = "", , , , , , , node]) => {
      const fits = serverPort === undefined ? !remote.endsWith(":0000") : remote.endsWith(hexPort(serverPort));
      return fits && local.endsWith(hexPort(clientPort)) && node !== "0";
    })?.[9];
  if (inode === undefined) return undefined;
  const holds = (pid: number): boolean =>
    numericEntries(`/proc/${pid}/fd`).some(
      (fd) => readOrUndefined(() => readlinkSync(`/proc/${pid}/fd/${fd}`)) === `socket:[${inode}]`,
    );
  const pid = [...found].find(holds) ?? numericEntries("/proc").find(holds);
  if (pid !== undefined) found.add(pid);
  return pid;
}

const hexPort = (port: number): string => `:${port.toString(16).toUpperCase().padStart(4, "0")}`;

const numericEntries = (folder: string): readonly number[] =>
  (readOrUndefined(() => readdirSync(folder)) ?? []).filter((name) => /^\d+$/.test(name)).map(Number);

/** A process may end, or belong to someone else, between being listed and being read. */
function readOrUndefined<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

async function lsofOwner(clientPort: number, serverPort: number | undefined): Promise<number | undefined> {
  const listing = await run("lsof", ["-nP", "-Fpn", `-iTCP:${clientPort}`]).catch(() => ({ stdout: "" }));
  let pid: number | undefined;
  for (const line of listing.stdout.split("\n")) {
    if (line.startsWith("p")) pid = Number(line.slice(1));
    const ends = /^n.*:(\d+)->.*:(\d+)$/.exec(line);
    if (ends && Number(ends[1]) === clientPort && (serverPort === undefined || Number(ends[2]) === serverPort))
      return pid;
  }
  return undefined;
}

/** One letter as `ps` shows it (`T` stopped, `Z` dead but not yet reaped), undefined where there is no such process. */
async function stateOf(pid: number): Promise<string | undefined> {
  if (!onLinux) {
    const shown = await run("ps", ["-o", "stat=", "-p", String(pid)]).catch(() => ({ stdout: "" }));
    return shown.stdout.trim()[0];
  }
  const stat = readOrUndefined(() => readFileSync(`/proc/${pid}/stat`, "utf8"));
  // The second field is the program's name in brackets, and may itself hold spaces and brackets.
  return stat?.slice(stat.lastIndexOf(")") + 2)[0];
}

/** False for a zombie too: it runs nothing any more, whether or not its parent has noticed. */
export async function isAlive(pid: number): Promise<boolean> {
  const state = await stateOf(pid);
  return state !== undefined && state !== "Z" && state !== "X";
}

export const isStopped = async (pid: number): Promise<boolean> => (await stateOf(pid)) === "T";

/** SIGKILL; resolves when the process is dead, also when it was so already. */
export async function kill(pid: number): Promise<void> {
  signal(pid, "SIGKILL");
  await waitUntil(async () => !(await isAlive(pid)), 5_000, `process ${pid} to be dead`);
}

/** SIGSTOP; resolves when the process stands still. @throws when it is dead. */
export async function stop(pid: number): Promise<void> {
  signal(pid, "SIGSTOP");
  await waitUntil(() => isStopped(pid), 5_000, `process ${pid} to stand still`);
}

/** SIGCONT; resolves when the process runs again, or is dead. */
export async function resume(pid: number): Promise<void> {
  signal(pid, "SIGCONT");
  await waitUntil(async () => !(await isStopped(pid)), 5_000, `process ${pid} to run again`);
}

function signal(pid: number, name: NodeJS.Signals): void {
  if (pid === process.pid || pid <= 1)
    throw new Error(`refusing to send ${name} to process ${pid}: it is not a caller`);
  try {
    process.kill(pid, name);
  } catch (error) {
    const gone = error instanceof Error && "code" in error && error.code === "ESRCH";
    if (!gone) throw error;
  }
}

/** Polls until the condition gives something truthy, and returns that. @throws Error that names what was awaited. */
export async function waitUntil<T>(
  condition: () => T | Promise<T>,
  timeoutMs: number,
  what: string,
): Promise<Exclude<T, undefined | null | false | 0 | "">> {
  const endsAt = performance.now() + timeoutMs;
  for (;;) {
    const value = await condition();
    if (isTruthy(value)) return value;
    if (performance.now() >= endsAt) throw new Error(`waited ${timeoutMs} ms in vain for ${what}`);
    await sleep(pollEveryMs);
  }
}

const isTruthy = <T>(value: T): value is Exclude<T, undefined | null | false | 0 | ""> => Boolean(value);
