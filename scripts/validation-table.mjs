// The table of docs/calibration.md: errors of the shipped profiles on the shipped tables, as `epsim validate` prints them.
import { scoreTables, shippedTables } from '@epsim/calibration';
import { markdownTable } from '@epsim/report';

/** What people call the groups that are left out. */
const groups = {
  ep: 'ranks',
  tp: 'tensor ranks',
  hidden: 'hidden size',
  bytes: 'size',
  sms: 'multiprocessors',
  m: 'rows',
};

const percent = (error) => `${(100 * error).toFixed(1)} %`;

export function validationTable() {
  const rows = scoreTables(shippedTables).map(
    ({ file, predictions, medianError, p90Error, leaveOut: scores }) => {
      const left = scores.filter(({ by }) => by !== 'system');
      const system = scores.find(({ by }) => by === 'system');
      const without = left.map(({ by, medianError: error }) => `${percent(error)} by ${groups[by] ?? by}`);
      return [
        file.replace('.csv', ''),
        String(predictions),
        percent(medianError),
        percent(p90Error),
        without.join(', '),
        system === undefined ? '' : percent(system.medianError),
      ];
    },
  );
  return markdownTable(
    ['table', 'values', 'median', '90th percentile', 'left out', 'from another system'],
    rows,
  );
}
