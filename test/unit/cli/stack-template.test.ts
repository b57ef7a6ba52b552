import { createServer } from "node:http";
import { text } from "node:stream/consumers";
import { expect, onTestFinished, test } from "vitest";
import { stackTemplate } from "../../../shared/adapters/stack-template.ts";

async function cloudFormation(status: number, answer: string) {
  const asked: URLSearchParams[] = [];
  const server = createServer(async (request, response) => {
    asked.push(new URLSearchParams(await text(request)));
    response.writeHead(status, { "content-type": "text/xml" }).end(answer);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  const credentials = { accessKeyId: "test", secretAccessKey: "test" };
  return { asked, read: stackTemplate({ endpoint: `http://127.0.0.1:${port}`, region: "us-east-1", credentials }) };
}

test("a stack's template is read as it was sent", async () => {
  const { asked, read } = await cloudFormation(
    200,
    "<GetTemplateResponse><GetTemplateResult><TemplateBody>{&quot;Resources&quot;: {}}</TemplateBody></GetTemplateResult></GetTemplateResponse>",
  );
  expect(await read("Shop")).toBe('{"Resources": {}}');
  expect(Object.fromEntries(asked[0] ?? [])).toMatchObject({
    Action: "GetTemplate",
    StackName: "Shop",
    TemplateStage: "Original",
  });
});

test("a stack that is not there is an error with CloudFormation's words", async () => {
  const { read } = await cloudFormation(
    400,
    "<ErrorResponse><Error><Type>Sender</Type><Code>ValidationError</Code><Message>Stack with id Shop does not exist</Message></Error></ErrorResponse>",
  );
  await expect(read("Shop")).rejects.toThrow("Stack with id Shop does not exist");
});

test("whoever aborts does not wait for the answer", async () => {
  const { read } = await cloudFormation(200, "");
  await expect(read("Shop", AbortSignal.abort())).rejects.toMatchObject({ name: "AbortError" });
});
