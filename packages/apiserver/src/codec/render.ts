/**
 * Objects as they are served. The stored bytes are the source: they are sent unchanged, with `resourceVersion`
 * inserted. Computed forms (other versions) are cached with the entry; the parsed form is cached while it is
 * referenced.
 *
 * A stored value begins `{"apiVersion":…,"kind":…,"metadata":{`, so the insert position is in its first bytes.
 */
import { parseFor } from "./exact-json.ts";
import { invariant, isObject } from "@flotilla/base";
import type { JsonObject } from "@flotilla/base";
import { encodeSharing, FIRST_FIELDS } from "./encode.ts";
import type { Former, Layout } from "./encode.ts";
import type { ByteWriter } from "./byte-writer.ts";
import { ConversionPending } from "./conversion.ts";
import type { Resource, ServedVersion } from "../resources/resources.ts";
import type { StoredObject } from "./stored-object.ts";

/** An object in one version. Views in other versions are linked by `next`; almost every entry has only one view. */
interface View {
  readonly served: ServedVersion;
  /** Referenced by its readers, mostly informers; without readers the bytes are parsed again. */
  object?: WeakRef<JsonObject>;
  /** The stored value equals the served form, byte for byte. */
  verbatim?: boolean;
  /**
   * The object passed admission and validation in this version, so the parts that a later write shares with it are
   * known to be valid.
   */
  settled?: boolean;
  /** Set when not verbatim: the whole object with its resourceVersion. */
  bytes?: Uint8Array;
  /** `bytes` is the object as a webhook converted it. */
  isConverted?: boolean;
  /** The positions of the object's parts in the stored value. */
  layout?: Layout;
  /** The protobuf message. Several readers at the same time share it; it is not worth memory for longer. */
  message?: WeakRef<Uint8Array>;
  next?: View;
}

/** An object that was just written, and its view. */
export interface WrittenView {
  object: JsonObject;
  view: View;
}

const encoder = new TextEncoder();
const decoder = new TextDecoder();
const METADATA = '"metadata":{';

/** The value to store. `object` has no resourceVersion, and its first keys are apiVersion, kind and metadata. */
export function encodeObject(object: JsonObject): Uint8Array {
  for (const key in object) {
    if (key === FIRST_FIELDS[0]) return encoder.encode(JSON.stringify(object));
    break;
  }
  // JavaScript puts integer-like keys first in any object.
  return encodeSharing(object).value;
}

/** The same object with the keys in the order that stored values have. */
export function ordered(object: JsonObject): JsonObject {
  const { apiVersion, kind, metadata, ...rest } = object;
  return { apiVersion: apiVersion ?? "", kind: kind ?? "", metadata: metadata ?? {}, ...rest };
}

/** The writer's own form of the object, to be cached with the entry. */
export function viewOfWritten(served: ServedVersion, object: JsonObject, settled: boolean): WrittenView {
  return { object, view: { served, object: new WeakRef(object), verbatim: true, settled } };
}

/** The object in a version, if it is known to have passed admission and validation in that version. */
export function settledIn(entry: StoredObject, served: ServedVersion): JsonObject | undefined {
  return viewOf(entry, served).settled ? objectIn(entry, served) : undefined;
}

/** The object in a version, with its resourceVersion. Shared: callers must not modify it. */
export function objectIn(entry: StoredObject, served: ServedVersion): JsonObject {
  const view = viewOf(entry, served);
  const object = view.object?.deref() ?? readInto(view, entry);
  const metadata = object.metadata as JsonObject;
  if (metadata.resourceVersion === undefined && entry.revision > 0) {
    metadata.resourceVersion = String(entry.revision);
  }
  return object;
}

function readInto(view: View, entry: StoredObject): JsonObject {
  const { served } = view;
  const object = served.resource.conversion
    ? readConverted(view, entry)
    : served.isStorage
      ? parseStored(entry, served)
      : convertFromStorage(entry, served);
  view.object = new WeakRef(object);
  return object;
}

/** The object in any version in which it is already parsed; undefined when it would have to be parsed. */
export function knownObject({ memo }: StoredObject): JsonObject | undefined {
  for (let view = memo as View | undefined; view; view = view.next) {
    const object = view.object?.deref();
    if (object) return object;
  }
  return undefined;
}

/** The bytes of an entry, for a write that shares parts with its object. */
export function formerOf(entry: StoredObject, served: ServedVersion): Former | undefined {
  const { layout, object } = viewOf(entry, served);
  const former = layout && object?.deref();
  return former && { object: former, value: entry.value, layout };
}

/** The cached protobuf message of an entry; `encode` makes it otherwise. */
export function messageIn(entry: StoredObject, served: ServedVersion): Uint8Array | undefined;
export function messageIn(
  entry: StoredObject,
  served: ServedVersion,
  encode: (object: JsonObject) => Uint8Array,
): Uint8Array;
export function messageIn(
  entry: StoredObject,
  served: ServedVersion,
  encode?: (object: JsonObject) => Uint8Array,
): Uint8Array | undefined {
  const view = viewOf(entry, served);
  const known = view.message?.deref();
  if (known || !encode) return known;
  const message = encode(objectIn(entry, served));
  view.message = new WeakRef(message);
  return message;
}

/** The last state of the object, at the revision of the change that removed it from the watch. */
export function objectAt(entry: StoredObject, served: ServedVersion, revision: number): JsonObject {
  const object = objectIn(entry, served);
  if (entry.revision === revision) return object;
  return { ...object, metadata: { ...(object.metadata as JsonObject), resourceVersion: String(revision) } };
}

/**
 * Three chunks that form the object in a version, at a revision. None is a copy when the stored value is served
 * verbatim.
 */
export function piecesIn(entry: StoredObject, served: ServedVersion, revision = entry.revision): readonly Uint8Array[] {
  const view = viewOf(entry, served);
  if (!isServedVerbatim(entry, view)) {
    if (revision !== entry.revision) return [encoder.encode(JSON.stringify(objectAt(entry, served, revision)))];
    return [(view.bytes ??= encoder.encode(JSON.stringify(objectIn(entry, served))))];
  }
  const { value } = entry;
  if (revision === 0) return [value];
  const at = metadataStart(value, served);
  return [value.subarray(0, at), Buffer.from(`"resourceVersion":"${revision}",`, "latin1"), value.subarray(at)];
}

/** Up to this size one copy costs less than several chunks that are joined later. */
const COPY_UP_TO_BYTES = 16 * 1024;

/** The object in a version as the body of a response. */
export function bodyIn(entry: StoredObject, served: ServedVersion): Uint8Array | readonly Uint8Array[] {
  const { value, revision } = entry;
  if (revision === 0 || value.byteLength > COPY_UP_TO_BYTES || !isServedVerbatim(entry, viewOf(entry, served)))
    return piecesIn(entry, served);
  const at = metadataStart(value, served);
  const inserted = `"resourceVersion":"${revision}",`;
  const bytes = Buffer.allocUnsafe(value.byteLength + inserted.length);
  bytes.set(value, inserted.length);
  bytes.copyWithin(0, inserted.length, inserted.length + at);
  bytes.write(inserted, at, "latin1");
  return bytes;
}

/** Writes the object in a version. Items of built-in lists omit apiVersion and kind, which the list specifies once. */
export function writeObject(entry: StoredObject, served: ServedVersion, output: ByteWriter): void {
  const isItem = served.resource.kind.builtIn;
  const view = viewOf(entry, served);
  const { revision } = entry;
  if (revision === 0 || !isServedVerbatim(entry, view)) {
    const [bytes] = piecesIn(entry, served);
    invariant(bytes, `the object at ${entry.key} must have bytes`);
    if (isItem) output.text(`{${METADATA}`);
    return output.bytes(bytes, isItem ? metadataStart(bytes, served) : 0);
  }
  const { value } = entry;
  const at = metadataStart(value, served);
  if (isItem) output.text(`{${METADATA}"resourceVersion":"${revision}",`);
  else {
    output.bytes(value, 0, at);
    output.text(`"resourceVersion":"${revision}",`);
  }
  output.bytes(value, at);
}

function isServedVerbatim(entry: StoredObject, view: View): boolean {
  const { served } = view;
  return (view.verbatim ??= served.isStorage && (served.resource.kind.builtIn || isVerbatim(entry, view)));
}

/**
 * The position right after the first `"metadata":{`. It is nearly always where this version puts it, so that position
 * is checked first.
 */
function metadataStart(value: Uint8Array, { metadataAt }: ServedVersion): number {
  if (value[metadataAt - 1] === OPEN_BRACE && value[metadataAt - 2] === COLON && isMetadataBefore(value, metadataAt))
    return metadataAt;
  const at = Buffer.from(value.buffer, value.byteOffset, Math.min(value.byteLength, 1024)).indexOf(METADATA);
  invariant(at >= 0, "a stored value must begin with apiVersion, kind and metadata");
  return at + METADATA.length;
}

const OPEN_BRACE = 0x7b;
const COLON = 0x3a;

function isMetadataBefore(value: Uint8Array, end: number): boolean {
  const start = end - METADATA.length;
  for (let index = 0; index < METADATA.length; index++)
    if (value[start + index] !== METADATA.charCodeAt(index)) return false;
  return true;
}

/**
 * After a restart the schema may differ from the one under which the value was written; equal bytes prove that nothing
 * changes.
 */
function isVerbatim(entry: StoredObject, view: View): boolean {
  const object = objectIn(entry, view.served);
  const { resourceVersion: _, ...metadata } = object.metadata as JsonObject;
  return Buffer.compare(encodeObject({ ...object, metadata }), entry.value) === 0;
}

function viewOf(entry: StoredObject, served: ServedVersion): View {
  const first = entry.memo as View | undefined;
  for (let view = first; view; view = view.next) if (view.served === served) return view;
  const view: View = { served };
  // A changed schema leaves views of the old one behind; they are dropped with the entry. The limit keeps a client that
  // edits a CRD in a loop from accumulating them.
  if (first && countViews(first) < MAX_VIEWS) view.next = first;
  entry.memo = view;
  return view;
}

const MAX_VIEWS = 8;
function countViews(first: View): number {
  let count = 0;
  for (let view: View | undefined = first; view; view = view.next) count++;
  return count;
}

function parseStored(entry: StoredObject, served: ServedVersion): JsonObject {
  let object = parseFor(served.resource.kind, decoder.decode(entry.value)) as JsonObject;
  if (object.apiVersion !== served.apiVersion) object = upgradeStored(object, served);
  // Built-in values are served verbatim, so their parsed form must not differ from the bytes.
  if (!served.resource.kind.builtIn) object = admitted(object, served);
  return object;
}

/** Whether a webhook has to convert the object before it can be read in a version. */
export function needsConversion(entry: StoredObject, served: ServedVersion): boolean {
  if (!served.resource.conversion || viewOf(entry, served).isConverted) return false;
  // Stored values begin with their apiVersion.
  const prefix = `{"apiVersion":${JSON.stringify(served.apiVersion)},`;
  return Buffer.from(entry.value.buffer, entry.value.byteOffset, prefix.length).toString("latin1") !== prefix;
}

/** The stored object in the version in which it was written, for a webhook that converts it. */
export function storedForm(entry: StoredObject, { kind, storage, former }: Resource): JsonObject {
  const object = parseFor(kind, decoder.decode(entry.value)) as JsonObject;
  const { metadata } = object;
  if (isObject(metadata)) metadata.resourceVersion = String(entry.revision);
  return former && former.apiVersion === object.apiVersion
    ? { ...former.toStorage(object), apiVersion: storage.apiVersion }
    : object;
}

/** Keeps the object as a webhook converted it, as long as the entry. */
export function addConverted(entry: StoredObject, served: ServedVersion, converted: JsonObject): void {
  const view = viewOf(entry, served);
  const object = admitted(ordered(converted), served);
  const metadata = object.metadata as JsonObject;
  if (entry.revision > 0) metadata.resourceVersion = String(entry.revision);
  view.bytes = encoder.encode(JSON.stringify(object));
  view.isConverted = true;
  view.verbatim = false;
  view.object = new WeakRef(object);
}

function readConverted({ served, isConverted, bytes }: View, entry: StoredObject): JsonObject {
  if (isConverted && bytes) return parseFor(served.resource.kind, decoder.decode(bytes)) as JsonObject;
  const stored = storedForm(entry, served.resource);
  if (stored.apiVersion === served.apiVersion) return admitted(withoutVersion(stored), served);
  if (!served.isStorage) throw new ConversionPending({ entry, to: served });
  // The server's own readers use the storage version for metadata, which no conversion changes.
  return { ...stored, apiVersion: served.apiVersion };
}

/** Set by `objectIn`; a stored value has none. */
function withoutVersion(object: JsonObject): JsonObject {
  if (isObject(object.metadata)) delete object.metadata.resourceVersion;
  return object;
}

/** The storage version of the CRD changed after this value was written. */
function upgradeStored(object: JsonObject, served: ServedVersion): JsonObject {
  const { former, versions } = served.resource;
  if (former && former.apiVersion === object.apiVersion)
    return { ...former.toStorage(object), apiVersion: served.apiVersion };
  const written = versions.find(({ apiVersion }) => apiVersion === object.apiVersion);
  return { ...(written?.toStorage?.(object) ?? object), apiVersion: served.apiVersion };
}

function convertFromStorage(entry: StoredObject, served: ServedVersion): JsonObject {
  const { storage } = served.resource;
  const stored = viewOf(entry, storage).object?.deref() ?? parseStored(entry, storage);
  const version = served.fromStorage ? served.fromStorage(stored) : stored;
  // The versions share their parts, except the metadata, which is completed later.
  const metadata = isObject(version.metadata) ? { ...version.metadata } : {};
  return admitted(ordered({ ...version, apiVersion: served.apiVersion, metadata }), served);
}

/** Prunes and defaults an object from storage: new defaults appear on old objects, removed fields disappear. */
function admitted(object: JsonObject, served: ServedVersion): JsonObject {
  const known = served.compiled.admit(object);
  return isObject(known.metadata) ? known : { ...known, metadata: {} };
}
