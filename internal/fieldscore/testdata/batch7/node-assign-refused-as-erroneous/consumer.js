'rebalance_cb': function(err : LibrdKafkaError, assignment : Assignment) {
			  if (err.code === CODES.ERRORS.ERR__ASSIGN_PARTITIONS) {
			  } else if (err.code == CODES.ERRORS.ERR__REVOKE_PARTITIONS){
			  } else {
				// We had a real error
				console.error(err);
			  }
			}
