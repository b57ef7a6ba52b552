import { afterEach, describe, expect, it, vi } from "vitest";
import {
  credentialsTreatedAsExpired,
  credentialsWillNeedRefresh,
  defaultProvider,
} from "../../functions/lambda-credentials.ts";

afterEach(() => vi.unstubAllEnvs());

const set = (variables: Readonly<Record<string, string>>): void => {
  for (const name of ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"])
    vi.stubEnv(name, variables[name] ?? "");
};

describe("a function's credentials", () => {
  it("are what stands in its environment when they are asked for", async () => {
    const provide = defaultProvider();
    set({ AWS_ACCESS_KEY_ID: "id", AWS_SECRET_ACCESS_KEY: "secret", AWS_SESSION_TOKEN: "token" });
    expect(await provide()).toEqual({ accessKeyId: "id", secretAccessKey: "secret", sessionToken: "token" });
    set({ AWS_ACCESS_KEY_ID: "other", AWS_SECRET_ACCESS_KEY: "secret" });
    expect(await provide()).toEqual({ accessKeyId: "other", secretAccessKey: "secret" });
  });

  it.each(["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"])("name %s where it is missing", async (missing) => {
    set({ AWS_ACCESS_KEY_ID: "id", AWS_SECRET_ACCESS_KEY: "secret", [missing]: "" });
    await expect(defaultProvider()()).rejects.toThrow(
      `environment variable ${missing} must hold a function's credentials; Lambda sets it`,
    );
  });

  it("need no refresh without an end, and count as expired five minutes before it", () => {
    const keys = { accessKeyId: "id", secretAccessKey: "secret" };
    expect(credentialsWillNeedRefresh(keys)).toBe(false);
    expect(credentialsTreatedAsExpired(keys)).toBe(false);
    const ending = (minutes: number) => ({ ...keys, expiration: new Date(Date.now() + minutes * 60_000) });
    expect(credentialsWillNeedRefresh(ending(10))).toBe(true);
    expect(credentialsTreatedAsExpired(ending(10))).toBe(false);
    expect(credentialsTreatedAsExpired(ending(4))).toBe(true);
  });
});
