/**
 * A rejection as messages for the rejected queue. The body stays what it was, so that it can be sent again as it came;
 * what is said about it stands in the message's attributes.
 */
import { fixed } from "../limits.ts";
import type { Rejection } from "../ports.ts";
import { asciiJson } from "./ascii-json.ts";
import { isSendable, piecesOf, readable, utf8Bytes } from "./sqs-text.ts";

export type RejectionMessage = {
  readonly body: string;
  /** `rejection_id`, `source`, `reason`; `escaped` = "true" where the body is JSON text of what came; `part` = "1/2" where it is one of several. */
  readonly attributes: Readonly<Record<string, string>>;
};

const maxReasonBytes = 2_048;
const maxSourceBytes = 512;
/** A part's attribute is counted before the number of parts is known; six digits on each side are plenty. */
const partRoom = "000000/000000";

/** Name, type and value of each attribute count (quotas-messages.html). */
const attributeBytes = (attributes: Readonly<Record<string, string>>): number =>
  Object.entries(attributes).reduce(
    (sum, [name, value]) => sum + utf8Bytes(name) + utf8Bytes("String") + utf8Bytes(value),
    0,
  );

/**
 * One message, or several where body and attributes together are longer than SQS takes: their bodies put together in
 * order of `part` are the body. What SQS refuses as text can only come from code, and is sent as JSON text.
 */
export function rejectionMessages(rejection: Rejection, id: string): readonly RejectionMessage[] {
  const sendable = isSendable(rejection.body);
  const body = sendable ? rejection.body : asciiJson(rejection.body);
  const attributes = {
    rejection_id: id,
    source: readable(rejection.source, maxSourceBytes),
    reason: readable(rejection.reason, maxReasonBytes),
    ...(!sendable && { escaped: "true" }),
  };
  if (utf8Bytes(body) + attributeBytes(attributes) <= fixed.messageBytes) return [{ body, attributes }];
  const room = fixed.messageBytes - attributeBytes({ ...attributes, part: partRoom });
  const pieces = piecesOf(body, room);
  return pieces.map((piece, place) => ({
    body: piece,
    attributes: { ...attributes, part: `${place + 1}/${pieces.length}` },
  }));
}
