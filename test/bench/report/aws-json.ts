/** A call of a local AWS for which the project has no client, since only the bench makes it. */
import { localRegion } from "../../../cli/local/local-env.ts";

/** Signed by nobody: the local AWS reads the region and the service of a signature, and looks at nothing else. */
const signedFor = (service: string): string =>
  `AWS4-HMAC-SHA256 Credential=test/20260101/${localRegion}/${service}/aws4_request, SignedHeaders=host, Signature=none`;

/** @throws Error with the answer where it is none. */
export async function askAws(endpoint: string, service: string, target: string, body: object): Promise<unknown> {
  const response = await fetch(endpoint, {
    method: "POST",
    headers: {
      "content-type": "application/x-amz-json-1.1",
      "x-amz-target": target,
      authorization: signedFor(service),
    },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`${target} answered ${response.status}: ${await response.text()}`);
  return response.json();
}
