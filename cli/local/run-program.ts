import { spawn } from "node:child_process";

const tailLines = 60;

export type ProgramOptions = {
  readonly cwd?: string;
  readonly env: NodeJS.ProcessEnv;
  /** Takes what it prints, as it comes. @default nobody */
  readonly show?: (text: string) => void;
  readonly signal?: AbortSignal;
};

/**
 * Runs a program to its end and returns what it printed, both streams together.
 * @throws Error when it could not be started, was ended or did not end with 0; with the last lines of that unless they were shown.
 */
export function runProgram(program: string, args: readonly string[], options: ProgramOptions): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, {
      env: options.env,
      stdio: ["ignore", "pipe", "pipe"],
      ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
      ...(options.signal === undefined ? {} : { signal: options.signal }),
    });
    let output = "";
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8");
      stream.on("data", (text: string) => {
        output += text;
        options.show?.(text);
      });
    }
    child.on("error", (cause) => reject(new Error(`${program} could not be run: ${cause.message}`, { cause })));
    child.on("close", (code, signal) => {
      if (code === 0) resolve(output);
      else {
        const tail = options.show === undefined ? `:\n${output.split("\n").slice(-tailLines).join("\n")}` : "";
        reject(new Error(`${program} ${args[0] ?? ""} ended with ${code ?? signal}${tail}`));
      }
    });
  });
}
