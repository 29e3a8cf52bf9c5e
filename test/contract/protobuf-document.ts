/** Reads protobuf documents of Kubernetes field by field: independent of the encoder under test. */
import { createProtobufCodec, encodeDocument } from "@flotilla/apimachinery";
import type { JsonObject } from "@flotilla/base";
import { kubernetesKinds } from "@flotilla/kubernetes";

const { decode } = createProtobufCodec(kubernetesKinds);

/** The kind of a document, and the fields of its message by number. */
export function openDocument(document: Buffer): { apiVersion: string; kind: string; fields: Map<number, Buffer[]> } {
  if (document.subarray(0, 4).toString("latin1") !== "k8s\0") throw new Error("not a protobuf document");
  const envelope = fieldsOf(document.subarray(4));
  const type = fieldsOf(envelope.get(1)?.[0] ?? Buffer.alloc(0));
  const raw = envelope.get(2)?.[0] ?? Buffer.alloc(0);
  const text = (number: number): string => type.get(number)?.[0]?.toString() ?? "";
  return { apiVersion: text(1), kind: text(2), fields: fieldsOf(raw) };
}

export function fieldsOf(bytes: Buffer): Map<number, Buffer[]> {
  const fields = new Map<number, Buffer[]>();
  let at = 0;
  const varint = (): number => {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = bytes[at++] ?? 0;
      value += (byte & 0x7f) * 2 ** shift;
      if (byte < 0x80) return value;
    }
  };
  while (at < bytes.length) {
    const tag = varint();
    if (tag % 8 !== 2) {
      varint();
      continue;
    }
    const length = varint();
    const list = fields.get(tag >> 3) ?? [];
    fields.set(tag >> 3, list);
    list.push(bytes.subarray(at, at + length));
    at += length;
  }
  return fields;
}

/** A document that is a list, as JSON. */
export function readList(document: Buffer, itemKind: string): JsonObject[] {
  const { apiVersion, fields } = openDocument(document);
  return (fields.get(2) ?? []).map((item) => {
    const head = encodeDocument("meta-v1", "Status", { apiVersion, kind: itemKind }, {});
    // The envelope of another message with this item instead of it.
    const type = Buffer.from(head).subarray(4, 6 + (head[5] ?? 0));
    return decode(Buffer.concat([Buffer.from("k8s\0"), type, lengthPrefixed(item)]));
  });
}

function lengthPrefixed(content: Buffer): Buffer {
  const prefix = [0x12];
  let rest = content.length;
  for (; rest >= 0x80; rest >>>= 7) prefix.push((rest & 0x7f) | 0x80);
  return Buffer.concat([Buffer.from([...prefix, rest]), content]);
}
