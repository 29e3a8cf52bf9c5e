/** An object as the store has it. */

/** An object as the store holds it: bytes at a key. `memo` holds its views. */
export interface StoredObject {
  readonly key: string;
  readonly revision: number;
  readonly value: Uint8Array;
  memo?: unknown;
}
