import { gluCeiling, gluGateDerivative, gluOf, gluUpDerivative } from '@epsim/model';
import { type Glu, gluAt } from '@epsim/tensor';
import fc from 'fast-check';
import { expect, test } from 'vitest';

const K3 = gluOf({ activation: 'situ', situ: { gateBound: 4, upBound: 25 } });
const SMALL = gluOf({ activation: 'situ', situ: { gateBound: 4, upBound: 4 } });
const SWIGLU = gluOf({ activation: 'swiglu', situ: null });
const LINEAR_UP = gluOf({ activation: 'situ', situ: { gateBound: 4, upBound: null } });

const anyInput = () => fc.double({ min: -300, max: 300, noNaN: true });

test("K3's ceiling is 100 and that of bounds 4 and 4 is 16, and neither is passed", () => {
  expect([gluCeiling(K3), gluCeiling(SMALL)]).toEqual([100, 16]);
  fc.assert(
    fc.property(anyInput(), anyInput(), (gate, up) => {
      expect(Math.abs(gluAt(K3, gate, up))).toBeLessThanOrEqual(100);
      expect(Math.abs(gluAt(SMALL, gate, up))).toBeLessThanOrEqual(16);
    }),
  );
  expect(gluAt(SMALL, 20, 20)).toBeGreaterThan(15.997);
  expect(gluCeiling(SWIGLU)).toBe(Number.POSITIVE_INFINITY);
  expect(gluAt(SWIGLU, 100, 200)).toBeCloseTo(20000, 6);
});

test('the gate branch never falls below -0.26977, which it reaches near -1.2188', () => {
  const lowest = (gate: number) => gluAt(LINEAR_UP, gate, 1);
  expect(lowest(-1.2188)).toBeCloseTo(-0.26977, 5);
  fc.assert(fc.property(anyInput(), (gate) => lowest(gate) >= lowest(-1.2188) - 1e-7));
});

test('near zero SiTU-GLU is SwiGLU', () => {
  fc.assert(
    fc.property(
      fc.double({ min: -0.1, max: 0.1, noNaN: true }),
      fc.double({ min: -1, max: 1, noNaN: true }),
      (g, u) => {
        expect(Math.abs(gluAt(K3, g, u) - gluAt(SWIGLU, g, u))).toBeLessThan(1e-3 * Math.abs(g * u) + 1e-12);
      },
    ),
  );
});

test.each<Glu>([K3, SMALL, SWIGLU, LINEAR_UP])(
  'derivatives are the slopes of central differences: %j',
  (glu) => {
    const anyNear = () => fc.double({ min: -12, max: 12, noNaN: true });
    fc.assert(
      fc.property(anyNear(), anyNear(), (gate, up) => {
        const h = 1e-5;
        const byGate = (gluAt(glu, gate + h, up) - gluAt(glu, gate - h, up)) / (2 * h);
        const byUp = (gluAt(glu, gate, up + h) - gluAt(glu, gate, up - h)) / (2 * h);
        expect(Math.abs(gluGateDerivative(glu, gate, up) - byGate)).toBeLessThan(1e-6);
        expect(Math.abs(gluUpDerivative(glu, gate, up) - byUp)).toBeLessThan(1e-6);
      }),
    );
  },
);

test('an activation without a gate is refused by name', () => {
  expect(() => gluOf({ activation: 'relu2', situ: null })).toThrow(/no gated activation: relu2/);
});
