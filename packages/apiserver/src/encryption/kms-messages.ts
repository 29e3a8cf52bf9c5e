/**
 * Messages of KMS v2 in protobuf: those of the plugin (`k8s.io/kms/apis/v2`), and the value that is stored. Field numbers
 * and limits are Kubernetes'.
 */
import { FlotillaError } from "@flotilla/base";
import { WireReader } from "@flotilla/apimachinery";
import { bytes, join, message, number } from "../store/grpc/message-parts.ts";
import type { Parts } from "../store/grpc/message-parts.ts";

export interface KmsStatus {
  version: string;
  /** `ok`, or why the plugin does not work. */
  healthz: string;
  keyId: string;
}

/** A key as the plugin encrypted it. */
export interface WrappedKey {
  ciphertext: Uint8Array;
  keyId: string;
  annotations: ReadonlyMap<string, Uint8Array>;
}

/** How the wrapped key was used: as the key itself, or to derive a key per value. */
export const keyUse = { aesGcmKey: 0, hkdfSeed: 1 } as const;

export interface StoredEnvelope {
  data: Uint8Array;
  wrapped: WrappedKey;
  use: number;
}

const MAX_KEY_ID_BYTES = 1024;
const MAX_CIPHERTEXT_BYTES = 1024;
const MAX_ANNOTATION_BYTES = 32 * 1024;
const NOTHING = new Uint8Array();

const text = (field: number, value: string): Parts => bytes(field, Buffer.from(value));
const annotations = (field: number, entries: ReadonlyMap<string, Uint8Array>): Parts =>
  [...entries].flatMap(([key, value]) => message(field, [...text(1, key), ...bytes(2, value)]));

export const renderEncrypt = (plain: Uint8Array, uid: string): Uint8Array =>
  join([...bytes(1, plain), ...text(2, uid)]);

export const renderDecrypt = ({ ciphertext, keyId, annotations: entries }: WrappedKey, uid: string): Uint8Array =>
  join([...bytes(1, ciphertext), ...text(2, uid), ...text(3, keyId), ...annotations(4, entries)]);

export function readStatusAnswer(from: Uint8Array): KmsStatus {
  const status: KmsStatus = { version: "", healthz: "", keyId: "" };
  eachField(from, (field, reader) => {
    if (field === 1) status.version = reader.text();
    else if (field === 2) status.healthz = reader.text();
    else if (field === 3) status.keyId = reader.text();
    else return false;
    return true;
  });
  return status;
}

/** Throws for a key that is empty or too large to be stored with every value. */
export function readEncryptAnswer(from: Uint8Array): WrappedKey {
  let ciphertext = NOTHING as Uint8Array;
  let keyId = "";
  const entries = new Map<string, Uint8Array>();
  eachField(from, (field, reader) => {
    if (field === 1) ciphertext = Uint8Array.from(reader.bytes());
    else if (field === 2) keyId = reader.text();
    else if (field === 3) addAnnotation(entries, reader.bytes());
    else return false;
    return true;
  });
  return checked({ ciphertext, keyId, annotations: entries });
}

export function readDecryptAnswer(from: Uint8Array): Uint8Array {
  let plain = NOTHING as Uint8Array;
  eachField(from, (field, reader) => {
    if (field !== 1) return false;
    plain = Uint8Array.from(reader.bytes());
    return true;
  });
  return plain;
}

/** The part of a stored value that is the same for all values of a key, and the data. */
export const renderEnvelope = (data: Uint8Array, wrapped: Parts): Uint8Array => join([...bytes(1, data), ...wrapped]);

export const wrappedParts = ({ ciphertext, keyId, annotations: entries }: WrappedKey): Parts => [
  join([...text(2, keyId), ...bytes(3, ciphertext), ...annotations(4, entries), ...number(5, keyUse.hkdfSeed)]),
];

export function readEnvelope(from: Uint8Array): StoredEnvelope {
  let data = NOTHING as Uint8Array;
  let ciphertext = NOTHING as Uint8Array;
  let keyId = "";
  let use = 0;
  const entries = new Map<string, Uint8Array>();
  eachField(from, (field, reader) => {
    if (field === 1) data = reader.bytes();
    else if (field === 2) keyId = reader.text();
    else if (field === 3) ciphertext = reader.bytes();
    else if (field === 4) addAnnotation(entries, reader.bytes());
    else if (field === 5) use = reader.varint();
    else return false;
    return true;
  });
  return { data, use, wrapped: checked({ ciphertext, keyId, annotations: entries }) };
}

function checked(wrapped: WrappedKey): WrappedKey {
  const { ciphertext, keyId, annotations: entries } = wrapped;
  if (keyId === "" || Buffer.byteLength(keyId) > MAX_KEY_ID_BYTES)
    throw new FlotillaError("Encryption", `the id of the key must have 1 to ${MAX_KEY_ID_BYTES} bytes`);
  if (ciphertext.length === 0 || ciphertext.length > MAX_CIPHERTEXT_BYTES)
    throw new FlotillaError("Encryption", `the encrypted key must have 1 to ${MAX_CIPHERTEXT_BYTES} bytes`);
  let size = 0;
  for (const [key, value] of entries) size += Buffer.byteLength(key) + value.length;
  if (size > MAX_ANNOTATION_BYTES)
    throw new FlotillaError("Encryption", `the annotations have more than ${MAX_ANNOTATION_BYTES} bytes`);
  return wrapped;
}

function addAnnotation(entries: Map<string, Uint8Array>, from: Uint8Array): void {
  let key = "";
  let value = NOTHING as Uint8Array;
  eachField(from, (field, reader) => {
    if (field === 1) key = reader.text();
    else if (field === 2) value = Uint8Array.from(reader.bytes());
    else return false;
    return true;
  });
  entries.set(key, value);
}

/** `visit` returns false for a field that it did not read. */
function eachField(from: Uint8Array, visit: (field: number, reader: WireReader) => boolean): void {
  const reader = new WireReader(from);
  while (reader.next()) if (!visit(reader.field, reader)) reader.skip();
}
