/**
 * Locations in an object: the maps and lists that contain a field, with the keys of the contained values. Lists have
 * their indexes as keys.
 */
export type FieldLocations = Map<object, Set<string>>;

export function addPlace(places: FieldLocations, holder: object, key: string): void {
  const keys = places.get(holder) ?? new Set();
  places.set(holder, keys.add(key));
}
