/** What a store holds, as the simulation sees it: every write, in its order, without asking the program under test. */
import type { StoredWrite } from "./disk.ts";

export interface AnyObject {
  apiVersion: string;
  kind: string;
  metadata: {
    name: string;
    namespace?: string;
    uid?: string;
    generation?: number;
    labels?: Readonly<Record<string, string>>;
    annotations?: Readonly<Record<string, string>>;
    deletionTimestamp?: string;
    finalizers?: readonly string[];
    ownerReferences?: readonly { kind: string; name: string; uid: string }[];
    managedFields?: readonly { manager: string; operation: string; subresource?: string; fieldsV1?: unknown }[];
  };
  // The shapes of many kinds: checks know which fields theirs have.
  // oxlint-disable-next-line no-explicit-any
  spec?: any;
  // oxlint-disable-next-line no-explicit-any
  status?: any;
  // oxlint-disable-next-line no-explicit-any
  data?: any;
  rules?: unknown;
  roleRef?: unknown;
  subjects?: unknown;
}

export interface StoreView {
  apply(write: Pick<StoredWrite, "key" | "value">): void;
  clear(): void;
  get(key: string): AnyObject | undefined;
  /** The objects under a prefix that ends with `/`: `/apps/deployments/member1/`. */
  list(prefix: string): AnyObject[];
  keys(): IterableIterator<string>;
}

const decoder = new TextDecoder();

export function createStoreView(): StoreView {
  const values = new Map<string, Uint8Array>();
  /** By resource and cluster, so that a list reads no other key. */
  const buckets = new Map<string, Set<string>>();
  const parsed = new WeakMap<Uint8Array, AnyObject>();
  const bucketOf = (key: string): string => key.split("/", 4).join("/");
  const read = (value: Uint8Array): AnyObject => {
    let object = parsed.get(value);
    if (!object) parsed.set(value, (object = JSON.parse(decoder.decode(value)) as AnyObject));
    return object;
  };
  return {
    apply({ key, value }) {
      const bucket = bucketOf(key);
      if (value === null) {
        values.delete(key);
        buckets.get(bucket)?.delete(key);
        return;
      }
      values.set(key, value);
      const keys = buckets.get(bucket);
      if (keys) keys.add(key);
      else buckets.set(bucket, new Set([key]));
    },
    clear() {
      values.clear();
      buckets.clear();
    },
    get(key) {
      const value = values.get(key);
      return value && read(value);
    },
    list(prefix) {
      return Array.from(buckets.get(bucketOf(prefix)) ?? [])
        .filter((key) => key.startsWith(prefix))
        .flatMap((key) => {
          const value = values.get(key);
          return value ? [read(value)] : [];
        });
    },
    keys: () => values.keys(),
  };
}
