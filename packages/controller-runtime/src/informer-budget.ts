/**
 * What the informers of one server may hold together. A server that is not trusted could otherwise fill the memory of
 * this process with objects.
 *
 * While lists are in progress, twice as much may be held: objects that were deleted in the meantime are dropped at the
 * end of a list. When the budget is exceeded, every informer drops what it has from an incomplete list, and lists
 * again: whichever of them grew too large becomes current again as soon as the server has fewer objects.
 */
import type { Kind } from "@flotilla/apimachinery";
import { FlotillaError } from "@flotilla/base";

export interface InformerLimits {
  objects: number;
  bytes: number;
}

export interface InformerBudget {
  /** Adds a change to what is held. Throws `InformerBudgetError` when it grows above the limits. */
  charge(kind: Kind, change: InformerLimits): void;
  /** An informer starts to list. */
  begin(informer: object): void;
  /** Its list is complete, or the server does not serve it. Throws when the lists together are above the limits. */
  end(informer: object, kind: Kind): void;
  leave(informer: object): void;
  readonly held: Readonly<InformerLimits>;
  /** How often the budget was exceeded; every informer lists again when this rises. */
  readonly exceededCount: number;
}

export class InformerBudgetError extends FlotillaError {
  constructor(message: string) {
    super("InformerBudget", message);
  }
}

/** `onExceeded` is called with every error before it is thrown. */
export function createInformerBudget(
  limits: InformerLimits,
  onExceeded: (error: InformerBudgetError) => void = () => {},
): InformerBudget {
  const held: InformerLimits = { objects: 0, bytes: 0 };
  const informers = new Set<object>();
  /** Informers whose list is not complete. */
  const listing = new Set<object>();
  let exceededCount = 0;

  function check(kind: Kind, { objects, bytes }: InformerLimits): void {
    const factor = listing.size > 0 ? 2 : 1;
    const isObjects = held.objects + objects > limits.objects * factor;
    if (!isObjects && held.bytes + bytes <= limits.bytes * factor) return;
    const what = isObjects ? `${limits.objects} objects` : `${limits.bytes} bytes of objects`;
    exceededCount++;
    for (const informer of informers) listing.add(informer);
    const error = new InformerBudgetError(
      `its watched objects are more than ${what} together (the last: ${kind.plural})`,
    );
    onExceeded(error);
    throw error;
  }

  return {
    held,
    get exceededCount() {
      return exceededCount;
    },
    charge(kind, change) {
      if (change.objects > 0 || change.bytes > 0) check(kind, change);
      held.objects += change.objects;
      held.bytes += change.bytes;
    },
    begin(informer) {
      informers.add(informer);
      listing.add(informer);
    },
    end(informer, kind) {
      if (listing.delete(informer)) check(kind, { objects: 0, bytes: 0 });
    },
    leave(informer) {
      informers.delete(informer);
      listing.delete(informer);
    },
  };
}

/** What V8 needs for a value or a key, about. */
const VALUE_BYTES = 16;

/** Roughly the memory of a parsed object. Counts what is held, not what was sent: some fields may have been removed. */
export function sizeOf(value: unknown): number {
  if (typeof value === "string") return VALUE_BYTES + value.length;
  if (typeof value !== "object" || value === null) return VALUE_BYTES;
  let bytes = VALUE_BYTES;
  if (Array.isArray(value)) for (const item of value) bytes += sizeOf(item);
  else
    for (const key in value) {
      const item = (value as Record<string, unknown>)[key];
      if (item !== undefined) bytes += VALUE_BYTES + key.length + sizeOf(item);
    }
  return bytes;
}
