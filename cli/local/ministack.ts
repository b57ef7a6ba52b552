import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, open, readFile, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { delimiter, dirname, join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { localRegion } from "./local-env.ts";
import { ministackPython } from "./ministack-install.ts";

export type MinistackOptions = {
  /** @default a free one */
  readonly port?: number;
  /** File that takes its log, which holds what the functions print too. @default one that goes with it */
  readonly log?: string;
};

export type Ministack = {
  readonly endpoint: string;
  /** Ends it and the functions' processes. Everything it held is gone. */
  stop(): Promise<void>;
};

const healthTimeoutMs = 60_000;
const portTries = 3;

/**
 * Starts MiniStack on this machine's loopback. It ends with this process at the latest, however that ends.
 * @throws Error with the end of its log when it does not come up, or one that says what to install.
 */
export async function startMinistack(options: MinistackOptions = {}): Promise<Ministack> {
  const python = await ministackPython();
  for (let tried = 1; ; tried++) {
    try {
      return await startOn(python, options.port ?? (await freePort()), options.log);
    } catch (error) {
      // Between the look for a free port and its use another process may have taken it.
      const taken = error instanceof Error && error.message.includes("is already in use");
      if (!taken || options.port !== undefined || tried === portTries) throw error;
    }
  }
}

async function startOn(python: string, port: number, givenLog: string | undefined): Promise<Ministack> {
  const home = await mkdtemp(join(tmpdir(), "leasehold-aws-"));
  const logPath = givenLog ?? join(home, "ministack.log");
  const log = await open(logPath, "w");
  const child = spawn(python, [resolve(import.meta.dirname, "follow-parent.py")], {
    cwd: home,
    env: environment(home, port),
    // A session, and so a process group, of its own: it ends as one, and a Ctrl-C in this terminal does not reach it.
    detached: true,
    stdio: ["pipe", log.fd, log.fd],
  });
  const stop = async (): Promise<void> => {
    child.stdin?.end();
    if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
    await log.close();
    await rm(home, { recursive: true, force: true, maxRetries: 5 });
  };
  const endpoint = `http://127.0.0.1:${port}`;
  try {
    await healthy(child, endpoint);
  } catch (cause) {
    const tail = (await readFile(logPath, "utf8")).split("\n").slice(-40).join("\n");
    await stop();
    throw new Error(`MiniStack did not come up on port ${port}:\n${tail}`, { cause });
  }
  return { endpoint, stop };
}

/**
 * Nothing of this process's environment but the path: MiniStack hands its own on to the functions, and a stray AWS_PROFILE,
 * AWS_ENDPOINT_URL or NODE_OPTIONS would change what they do.
 */
function environment(home: string, port: number): NodeJS.ProcessEnv {
  return {
    // First the Node that runs this, so that the functions run on it as well.
    PATH: [dirname(process.execPath), process.env.PATH ?? ""].join(delimiter),
    HOME: home,
    TMPDIR: home,
    LEASEHOLD_LOCAL_AWS: home,
    LANG: "C.UTF-8",
    PYTHONUNBUFFERED: "1",
    GATEWAY_PORT: String(port),
    BIND_HOST: "127.0.0.1",
    // Queue URLs name this host; "localhost" may lead to ::1, where nobody listens.
    MINISTACK_HOST: "127.0.0.1",
    MINISTACK_REGION: localRegion,
    LAMBDA_EXECUTOR: "local",
    // Deployed, the functions run on Node 24; the SDK's word about an older Node here is noise in their logs.
    AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: "true",
    STATE_DIR: join(home, "state"),
    S3_DATA_DIR: join(home, "s3"),
    // At its start it removes containers that carry its label, whoever made them: so it is shown no Docker at all.
    DOCKER_HOST: `unix://${join(home, "no-docker.sock")}`,
    // Listeners on fixed ports that nothing here needs and a second instance would miss.
    IOT_MTLS_ENABLED: "0",
    SFTP_ENABLED: "0",
  };
}

async function healthy(child: ChildProcess, endpoint: string): Promise<void> {
  let failed: Error | undefined;
  child.on("error", (error) => {
    failed = error;
  });
  const giveUpAtMs = performance.now() + healthTimeoutMs;
  while (performance.now() < giveUpAtMs) {
    if (failed !== undefined) throw failed;
    if (child.exitCode !== null) throw new Error(`it ended with ${child.exitCode}`);
    const answer = await fetch(`${endpoint}/_ministack/health`, { signal: AbortSignal.timeout(2_000) }).catch(
      () => null,
    );
    if (answer?.ok === true) return;
    await sleep(100);
  }
  throw new Error(`no health within ${healthTimeoutMs} ms`);
}

async function freePort(): Promise<number> {
  const server = createServer();
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  if (address === null || typeof address === "string") throw new Error("the system gave no free port");
  return address.port;
}
