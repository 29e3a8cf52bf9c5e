/**
 * The messages of etcd's API that the engine uses, in protobuf. Field numbers are those of etcd's `rpc.proto` and
 * `kv.proto`. Revisions are read as numbers: etcd would need centuries to exceed 2^53.
 */
import { WireReader } from "@flotilla/apimachinery";
import { bytes, join, message, number, writtenNumber } from "../grpc/message-parts.ts";
import type { Parts } from "../grpc/message-parts.ts";

export interface KeyValue {
  key: Uint8Array;
  modRevision: number;
  value: Uint8Array;
}

export interface Compare {
  key: Uint8Array;
  /** 0 means that the key must be absent. */
  modRevision: number;
}

export type Operation =
  | { type: "put"; key: Uint8Array; value: Uint8Array }
  | { type: "delete"; key: Uint8Array }
  | { type: "get"; key: Uint8Array; keysOnly: boolean };

export interface RangeRequest {
  key: Uint8Array;
  /** Unset reads one key. */
  end?: Uint8Array;
  limit?: number;
  /** The state at this revision; unset is the current one. */
  revision?: number;
  countOnly?: boolean;
}

export interface RangeAnswer {
  /** The revision of the whole store. */
  revision: number;
  entries: KeyValue[];
  hasMore: boolean;
}

export interface TransactionAnswer {
  revision: number;
  succeeded: boolean;
  /** By operation of the branch that ran: what a read found, how many keys a deletion removed. */
  results: { entries: KeyValue[]; deleted: number }[];
}

export interface WatchCreate {
  key: Uint8Array;
  end: Uint8Array;
  startRevision: number;
  /** Whether events carry the value that they replaced. */
  withPrevious: boolean;
}

export interface WatchEvent {
  isDeletion: boolean;
  entry: KeyValue;
  previous: KeyValue | undefined;
}

export interface WatchAnswer {
  revision: number;
  isCreated: boolean;
  isCanceled: boolean;
  /** Set when the watch starts before it. */
  compactRevision: number;
  cancelReason: string;
  /** Whether the events of its last revision continue in the next answer. */
  isFragment: boolean;
  events: WatchEvent[];
}

const rangeParts = ({ key, end, limit, revision, countOnly }: RangeRequest, keysOnly = false): Parts => [
  ...bytes(1, key),
  ...bytes(2, end),
  ...number(3, limit),
  ...number(4, revision),
  ...number(8, keysOnly),
  ...number(9, countOnly),
];

function operationParts(operation: Operation): Parts {
  const { type, key } = operation;
  if (type === "put") return message(2, [...bytes(1, key), ...bytes(2, operation.value)]);
  if (type === "delete") return message(3, bytes(1, key));
  return message(1, rangeParts({ key }, operation.keysOnly));
}

const COMPARE_MOD = 2;

export const renderRange = (request: RangeRequest): Uint8Array => join(rangeParts(request));

export function renderTransaction(
  compares: readonly Compare[],
  success: readonly Operation[],
  failure: readonly Operation[],
): Uint8Array {
  return join([
    ...compares.flatMap(({ key, modRevision }) =>
      // An absent key has the revision 0, which must be written: the field is in a oneof.
      message(1, [...number(2, COMPARE_MOD), ...bytes(3, key), ...writtenNumber(6, modRevision)]),
    ),
    ...success.flatMap((operation) => message(2, operationParts(operation))),
    ...failure.flatMap((operation) => message(3, operationParts(operation))),
  ]);
}

export const renderCompaction = (revision: number): Uint8Array => join(number(1, revision));

export const renderAuthentication = (name: string, password: string): Uint8Array =>
  join([...bytes(1, Buffer.from(name)), ...bytes(2, Buffer.from(password))]);

export const renderWatchCreate = ({ key, end, startRevision, withPrevious }: WatchCreate): Uint8Array =>
  join(
    message(1, [
      ...bytes(1, key),
      ...bytes(2, end),
      ...number(3, startRevision),
      ...number(4, true), // progress_notify: an idle watch still learns that nothing changed.
      ...number(6, withPrevious),
      ...number(8, true), // fragment: a large revision arrives in several answers.
    ]),
  );

export const renderWatchProgress = (): Uint8Array => join(message(3, []));

/** Calls back for every field of a message; what is not read is skipped. */
function readFields(from: Uint8Array, read: (field: number, reader: WireReader) => boolean): void {
  const reader = new WireReader(from);
  while (reader.next()) if (!read(reader.field, reader)) reader.skip();
}

function readRevision(header: Uint8Array): number {
  let revision = 0;
  readFields(header, (field, reader) => {
    if (field !== 3) return false;
    revision = reader.varint();
    return true;
  });
  return revision;
}

const NOTHING = new Uint8Array();

function readKeyValue(from: Uint8Array): KeyValue {
  const found: KeyValue = { key: NOTHING, modRevision: 0, value: NOTHING };
  readFields(from, (field, reader) => {
    if (field === 1) found.key = reader.bytes();
    else if (field === 3) found.modRevision = reader.varint();
    // A copy: the value is kept for long, and would keep the whole answer.
    else if (field === 5) found.value = new Uint8Array(reader.bytes());
    else return false;
    return true;
  });
  return found;
}

export function readRange(from: Uint8Array): RangeAnswer {
  const answer: RangeAnswer = { revision: 0, entries: [], hasMore: false };
  readFields(from, (field, reader) => {
    if (field === 1) answer.revision = readRevision(reader.bytes());
    else if (field === 2) answer.entries.push(readKeyValue(reader.bytes()));
    else if (field === 3) answer.hasMore = reader.varint() !== 0;
    else return false;
    return true;
  });
  return answer;
}

/** The answer to one operation: field 1 is a read, 2 a put, 3 a deletion. */
function readResult(from: Uint8Array): TransactionAnswer["results"][number] {
  const result: TransactionAnswer["results"][number] = { entries: [], deleted: 0 };
  readFields(from, (field, reader) => {
    if (field === 1) result.entries = readRange(reader.bytes()).entries;
    else if (field === 3) result.deleted = readDeleted(reader.bytes());
    else return false;
    return true;
  });
  return result;
}

function readDeleted(from: Uint8Array): number {
  let deleted = 0;
  readFields(from, (field, reader) => {
    if (field !== 2) return false;
    deleted = reader.varint();
    return true;
  });
  return deleted;
}

export function readTransaction(from: Uint8Array): TransactionAnswer {
  const answer: TransactionAnswer = { revision: 0, succeeded: false, results: [] };
  readFields(from, (field, reader) => {
    if (field === 1) answer.revision = readRevision(reader.bytes());
    else if (field === 2) answer.succeeded = reader.varint() !== 0;
    else if (field === 3) answer.results.push(readResult(reader.bytes()));
    else return false;
    return true;
  });
  return answer;
}

/** The text in field 2 of a message. */
function readSecond(from: Uint8Array): string {
  let text = "";
  readFields(from, (field, reader) => {
    if (field !== 2) return false;
    text = reader.text();
    return true;
  });
  return text;
}

/** The token in the answer to an authentication. */
export const readToken = readSecond;

/** The release of a member in its status. */
export const readVersion = readSecond;

function readEvent(from: Uint8Array): WatchEvent {
  const event: WatchEvent = {
    isDeletion: false,
    entry: { key: NOTHING, modRevision: 0, value: NOTHING },
    previous: undefined,
  };
  readFields(from, (field, reader) => {
    if (field === 1) event.isDeletion = reader.varint() === 1;
    else if (field === 2) event.entry = readKeyValue(reader.bytes());
    else if (field === 3) event.previous = readKeyValue(reader.bytes());
    else return false;
    return true;
  });
  return event;
}

export function readWatch(from: Uint8Array): WatchAnswer {
  const answer: WatchAnswer = {
    revision: 0,
    isCreated: false,
    isCanceled: false,
    compactRevision: 0,
    cancelReason: "",
    isFragment: false,
    events: [],
  };
  readFields(from, (field, reader) => {
    if (field === 1) answer.revision = readRevision(reader.bytes());
    else if (field === 3) answer.isCreated = reader.varint() !== 0;
    else if (field === 4) answer.isCanceled = reader.varint() !== 0;
    else if (field === 5) answer.compactRevision = reader.varint();
    else if (field === 6) answer.cancelReason = reader.text();
    else if (field === 7) answer.isFragment = reader.varint() !== 0;
    else if (field === 11) answer.events.push(readEvent(reader.bytes()));
    else return false;
    return true;
  });
  return answer;
}
