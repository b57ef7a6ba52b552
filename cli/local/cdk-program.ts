import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";

/**
 * The CDK's command line that the app in a folder has installed; there is none in the package, since an app's own must fit
 * its aws-cdk-lib.
 * @throws Error that says what to install.
 */
export function cdkProgram(folder: string): string {
  // The package exports its manifest and not what `bin` names, which has kept its place since version 1.
  const found = installed(folder, "aws-cdk/package.json");
  const program = found && join(dirname(found), "bin", "cdk");
  if (program !== undefined && existsSync(program)) return program;
  throw new Error(
    `aws-cdk must be installed in ${folder} or above it, got nothing of that name: npm install --save-dev aws-cdk`,
  );
}

/** @throws Error that says what to install when the folder's modules lack what the package's own app stands on. */
export function checkConstructs(folder: string): void {
  const missing = ["aws-cdk-lib", "constructs"].filter((name) => !installed(folder, `${name}/package.json`));
  if (missing.length === 0) return;
  throw new Error(
    `aws-cdk-lib and constructs must be installed beside leasehold, got no ${missing.join(" and no ")}: npm install ${missing.join(" ")}`,
  );
}

function installed(folder: string, file: string): string | undefined {
  try {
    return createRequire(join(folder, "package.json")).resolve(file);
  } catch {
    return undefined;
  }
}
