/** Writes based on an informer's cache. */
import { isConflict, isNotFound } from "@flotilla/apimachinery";

/**
 * The result of the write, or undefined when the object was changed or deleted concurrently: its newer version is in
 * flight and triggers a reconcile.
 */
export async function unlessChanged<T>(write: Promise<T>): Promise<T | undefined> {
  try {
    return await write;
  } catch (error) {
    if (isConflict(error) || isNotFound(error)) return undefined;
    throw error;
  }
}
