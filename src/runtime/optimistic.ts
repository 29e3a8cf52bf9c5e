/** Writes that are based on what an informer showed. */
import { isConflict, isNotFound } from "../machinery/index.ts";

/**
 * What the write answers, or undefined when the object was changed or removed meanwhile: its newer version is on its
 * way and wakes the reader.
 */
export async function unlessChanged<T>(write: Promise<T>): Promise<T | undefined> {
  try {
    return await write;
  } catch (error) {
    if (isConflict(error) || isNotFound(error)) return undefined;
    throw error;
  }
}
