/** Upper limits far above any real system, so that a typing error cannot ask for terabytes. */

export const MOST_RANKS = 8192;
export const MOST_LAYERS = 10_000;
/** Of a width, a head or expert count, a vocabulary. */
export const MOST_OF_A_SIZE = 1_000_000_000;
